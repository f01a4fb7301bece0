"""CSFCube: two of four annotators judged each pair; our figures against two other computations.

One is the krippendorff package on the file itself, the other is written in this file from the
definitions, without the product's code.
"""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from datetime import UTC, datetime

import krippendorff
import numpy as np
import pytest
from django.core.management import call_command
from django.urls import reverse

from annotate.models import Flag, Judgment, Project
from audit.models import AgreementReport
from audit.reports.reliability import agreement_of
from tests import factories

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)

PAIRS = [
    # Documents that both judged, counted in the file; the other two pairs share none.
    ("annotator1", "annotator2", 195),
    ("annotator1", "annotator3", 330),
    ("annotator2", "annotator3", 222),
    ("annotator3", "annotator4", 768),
]


@pytest.fixture(scope="module")
def labels(shared_data):
    """Unit -> annotator -> label, as in the file; -1 means no label."""
    found: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    with (shared_data / "text/csfcube/converted/annotator_labels.csv").open() as stream:
        for row in csv.DictReader(stream):
            if row["label"] != "-1":
                found[row["query_id"], row["doc_id"]][row["annotator"]] = int(row["label"])
    return found


@pytest.fixture(scope="module")
def figures(rows_of_file, shared_data):
    call_command(
        "load",
        "csf",
        "judgments-csv",
        str(shared_data / "text/csfcube/converted/annotator_labels.csv"),
        "--create",
        "--grades=0,1,2,3",
        "--no-grade=-1",
        verbosity=0,
    )
    return agreement_of(Project.objects.get(slug="csf"), seed=1, resamples=100)


def by_package(pairs, level):
    """Return alpha by the krippendorff package on (first, second) of each shared unit."""
    return krippendorff.alpha(
        reliability_data=np.array(pairs, dtype=float).T,
        value_domain=[0, 1, 2, 3],
        level_of_measurement=level,
    )


def by_hand(pairs, distance):
    """Cohen's kappa with weights of disagreement: 1 - observed / expected."""
    n = len(pairs)
    first, second = (Counter(values) for values in zip(*pairs, strict=True))
    observed = sum(distance(a, b) for a, b in pairs) / n
    expected = sum(
        first[a] / n * second[b] / n * distance(a, b) for a in range(4) for b in range(4)
    )
    return 1 - observed / expected


def alpha_by_hand(pairs, distance):
    """Krippendorff's alpha of two complete raters: 1 - observed / expected over all values."""
    values = [value for pair in pairs for value in pair]
    observed = sum(distance(a, b) for a, b in pairs) / len(pairs)
    counts = Counter(values)
    n = len(values)
    expected = sum(
        counts[a] * (counts[b] - (a == b)) * distance(a, b) for a in range(4) for b in range(4)
    ) / (n * (n - 1))
    return 1 - observed / expected


def plain(a, b):
    return float(a != b)


def linear(a, b):
    return float(abs(a - b))


def quadratic(a, b):
    return float((a - b) ** 2)


def test_every_label_is_loaded_and_minus_one_is_no_grade(figures):
    assert Judgment.objects.count() == 3_035
    assert Flag.objects.filter(flag="cannot_judge").count() == 5
    assert figures["scale"] == [0, 1, 2, 3]
    assert figures["left_out"] == [{"reason": "flags instead of a judgment", "count": 5}]


def test_the_pairs_are_those_who_judged_the_same_documents(figures):
    found = [(*scope["raters"], scope["units"]) for scope in figures["judgments"]["pairs"]]

    assert found == PAIRS


def test_each_pair_equals_the_package_and_the_definitions(figures, labels):
    for scope in figures["judgments"]["pairs"]:
        first, second = scope["raters"]
        pairs = [
            (grades[first], grades[second])
            for grades in labels.values()
            if first in grades and second in grades
        ]
        ours = {key: one["value"] for key, one in scope["coefficients"].items()}
        agreeing = sum(a == b for a, b in pairs) / len(pairs)

        assert ours["percent"] == pytest.approx(agreeing, abs=1e-9)
        for level in ("nominal", "ordinal", "interval"):
            package = by_package(pairs, level)
            assert ours[f"alpha_{level}"] == pytest.approx(package, abs=1e-9)
        assert ours["alpha_nominal"] == pytest.approx(alpha_by_hand(pairs, plain), abs=1e-9)
        assert ours["alpha_interval"] == pytest.approx(alpha_by_hand(pairs, quadratic), abs=1e-9)
        assert ours["cohen"] == pytest.approx(by_hand(pairs, plain), abs=1e-9)
        assert ours["cohen_linear"] == pytest.approx(by_hand(pairs, linear), abs=1e-9)
        assert ours["cohen_quadratic"] == pytest.approx(by_hand(pairs, quadratic), abs=1e-9)


def test_all_people_together_equal_the_package(figures, labels):
    people = sorted({name for grades in labels.values() for name in grades})
    table = np.array(
        [[grades.get(name, np.nan) for grades in labels.values()] for name in people], dtype=float
    )
    ours = figures["judgments"]["all"]["coefficients"]

    for level in ("nominal", "ordinal", "interval"):
        package = krippendorff.alpha(
            reliability_data=table, value_domain=[0, 1, 2, 3], level_of_measurement=level
        )
        assert ours[f"alpha_{level}"]["value"] == pytest.approx(package, abs=1e-9)


def test_cohen_of_all_is_the_mean_over_pairs(figures):
    pairs = [scope["coefficients"]["cohen"]["value"] for scope in figures["judgments"]["pairs"]]
    ours = figures["judgments"]["all"]["coefficients"]["cohen"]

    assert ours["value"] == pytest.approx(sum(pairs) / 4, abs=1e-9)
    assert ours["note"].startswith("mean over 4 of 6 pairs of raters")


def test_the_page_shows_what_the_package_finds(figures, labels, client):
    project = Project.objects.get(slug="csf")
    AgreementReport.objects.create(project=project, state="done", finished_at=NOON, figures=figures)
    client.force_login(factories.lead(project).user)

    page = client.get(reverse("audit:agreement", args=["csf"])).getvalue().decode()

    for first, second, units in PAIRS:
        pairs = [
            (grades[first], grades[second])
            for grades in labels.values()
            if first in grades and second in grades
        ]
        assert f"{first} and {second}" in page
        assert f'<td class="number">{units}</td>' in page
        assert f"{by_package(pairs, 'ordinal'):.3f}" in page
    assert "0.413" in page
    assert "5 flags instead of a judgment" in page
