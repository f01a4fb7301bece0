"""RAG 2025 (TREC): the same 10,284 documents judged by people and by a language model.

They are loaded as judgments of a person and of a machine. The figures of the job and the page of
machines equal the library's on the files, and the page of people has none of them.
"""

from __future__ import annotations

import csv
from datetime import UTC, datetime

import pytest
from django.core.management import call_command
from django.urls import reverse

from agreement import Ratings, cohen_kappa, fleiss_kappa, krippendorff_alpha, percent_agreement
from annotate.models import Judgment, Project
from audit.models import AgreementReport
from audit.reports.actions import compute_agreement
from jobs.runner import Progress
from tests import factories

FILES = {"NIST": "qrels.rag25.test.txt", "umbrela2": "qrels.rag25.test-umbrela2.txt"}
GRADES = [0, 1, 2, 3, 4]
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def lines(shared_data):
    """(query, document, rater, grade) of both files."""
    found = []
    for rater, name in FILES.items():
        with (shared_data / "trec" / name).open(encoding="utf-8") as stream:
            for line in stream:
                query, _, document, grade = line.split()
                found.append((query, document, rater, int(grade)))
    return found


@pytest.fixture(scope="module")
def report_of_file(rows_of_file, lines, tmp_path_factory):
    """The report of a project into which both files were loaded."""
    file = tmp_path_factory.mktemp("loaded") / "rag25.csv"
    with file.open("w", newline="") as stream:
        out = csv.writer(stream)
        out.writerow(["query_id", "doc_id", "annotator", "relevance", "machine"])
        out.writerows(
            (query, document, rater, grade, "false" if rater == "NIST" else "true")
            for query, document, rater, grade in lines
        )
    call_command(
        "load",
        *("rag25", "judgments-csv", str(file)),
        "--create",
        "--grades=0,1,2,3,4",
        verbosity=0,
    )
    project = Project.objects.get(slug="rag25")
    made = AgreementReport.objects.create(project=project, resamples=200)
    compute_agreement(made, Progress())
    AgreementReport.objects.update(state="done", finished_at=NOON)
    made.refresh_from_db()
    return made


@pytest.fixture
def report(report_of_file, copy_rows):
    return copy_rows(report_of_file)


def test_the_pages_show_what_the_library_finds(report, lines, client):
    ratings = Ratings.from_long(
        (((query, document), rater, grade) for query, document, rater, grade in lines),
        categories=GRADES,
    )
    expected = {
        "percent": percent_agreement(ratings),
        "cohen": cohen_kappa(ratings),
        "cohen_quadratic": cohen_kappa(ratings, weights="quadratic"),
        "fleiss": fleiss_kappa(ratings),
        "alpha_nominal": krippendorff_alpha(ratings, level="nominal"),
        "alpha_ordinal": krippendorff_alpha(ratings, level="ordinal"),
    }
    assert Judgment.objects.count() == 20_568

    (umbrela2,) = report.figures["machines"]
    (against,) = umbrela2["pairs"]

    assert (umbrela2["machine"], against["raters"]) == ("umbrela2", ["NIST", "umbrela2"])
    assert (against["units"], against["excluded"]) == (10_284, [])
    for key, coefficient in expected.items():
        found = against["coefficients"][key]
        assert found["value"] == pytest.approx(coefficient.value, abs=1e-9)
        low, high = found["interval"]
        assert low < found["value"] < high
    assert against["coefficients"]["cohen"]["value"] == pytest.approx(0.233, abs=5e-4)
    assert against["coefficients"]["alpha_ordinal"]["value"] == pytest.approx(0.493, abs=5e-4)
    # How often both gave the same grade, counted in the files.
    assert [against["table"][grade][grade] for grade in GRADES] == [1690, 446, 1971, 411, 19]

    lead = factories.lead(report.project)
    client.force_login(lead.user)
    page = client.get(reverse("audit:agreement_machines", args=["rag25"])).getvalue().decode()
    for shown in ("People against umbrela2", "0.233", "0.493", "10,284", "1,690"):
        assert shown in page
    assert "10,284 documents, 2 raters; NIST against umbrela2;" in page


def test_machine_judgments_are_not_agreement_among_people(report, client):
    people = report.figures["judgments"]["all"]

    assert (people["units"], people["raters"]) == (0, ["NIST"])
    assert people["excluded"] == [{"reason": "judged by one rater only", "units": 10_284}]

    client.force_login(factories.lead(report.project).user)
    page = client.get(reverse("audit:agreement", args=["rag25"])).getvalue().decode()
    assert "Only NIST has answered here" in page
    for hidden in ("umbrela2", "0.233", "0.493"):
        assert hidden not in page
