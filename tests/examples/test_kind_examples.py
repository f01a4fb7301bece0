"""The example of each kind is as its README says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from annotate.models import (
    Adjudication,
    Candidate,
    ConditionAdjudication,
    Flag,
    Judgment,
    Project,
)
from annotate.overview.finish_date import Estimate
from annotate.projects.actions import archive
from audit.models import AgreementReport, Check, Decision, Review, SampleItem
from audit.reports.statements_since import count_changes_since
from config.examples.making import kinds_with_examples, make_example
from exporters.models import Evaluation, Release
from jobs.models import Job
from jobs.runner import run
from keeping.backup import back_up
from keeping.purge import purge
from keeping.restore import restore
from keeping.verify import verify
from tests import factories
from tests.keeping.conftest import CountingProgress, export_files
from tests.services.copied import Copied

pytestmark = pytest.mark.usefixtures("idle_pulse")

FOLDER = Path(settings.BASE_DIR) / "examples"
# By kind: made once, and copied for later tests.
EXAMPLES: dict[str, Copied[Project]] = {
    kind: Copied(f"example-of-{kind}") for kind in kinds_with_examples()
}


@pytest.fixture(params=kinds_with_examples())
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def project(
    kind: str,
    db: None,
    client: Client,
    own_storage: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Project:
    """The example of the kind, made by ines, who is signed in."""
    made = EXAMPLES[kind].copy_or_make(
        lambda: make_example(kind=kind, by=factories.user("ines")), tmp_path_factory, own_storage
    )
    client.force_login(factories.user("ines"))
    return made


def table(kind: str, heading: str) -> dict[str, str]:
    """Return the first two columns of the table below a heading of the example's README."""
    text = (FOLDER / kind / "README.md").read_text(encoding="utf-8")
    section = text.split(f"## {heading}\n")[1].split("\n## ")[0]
    rows = [re.split(r" *\| *", line.strip("| ")) for line in section.splitlines() if "|" in line]
    return {first: second for first, second, *_ in rows[2:]}


def counts(project: Project) -> dict[str, int]:
    """Return the counts of an example's rows."""
    judgments = Judgment.objects.filter(annotator__project=project)
    checks = Check.objects.filter(item__sample__project=project)
    return {
        "queries": project.queries.count(),
        "documents": project.documents.count(),
        "instruction pairs with an altered narrative": project.pairs.filter(
            narratives__side="altered"
        )
        .distinct()
        .count(),
        "documents in pools": Candidate.objects.filter(query__project=project).count(),
        "judgments of people": judgments.of_people().count(),
        "of these with a note": judgments.of_people().exclude(note="").count(),
        "claims of machines": judgments.filter(annotator__is_machine=True).count(),
        "flags": Flag.objects.filter(annotator__project=project).count(),
        "reviews submitted": Review.objects.filter(
            auditor__project=project, submitted_at__isnull=False
        ).count(),
        "reviews begun": Review.objects.filter(
            auditor__project=project, submitted_at__isnull=True
        ).count(),
        "decisions on instructions": Decision.objects.filter(by__project=project).count(),
        "labels drawn for checks": SampleItem.objects.filter(sample__project=project).count(),
        "answers to them": checks.exclude(place=Check.SETTLES).count(),
        "labels settled": checks.filter(place=Check.SETTLES).count(),
        "documents settled": Adjudication.objects.filter(narrative__pair__project=project).count(),
        "conditions settled": ConditionAdjudication.objects.filter(by__project=project).count(),
        "runs": project.runs.count(),
        "evaluations requested": Evaluation.objects.filter(project=project).count(),
        "releases requested": Release.objects.filter(project=project).count(),
    }


def get_json(client: Client, project: Project, what: str) -> Any:
    return client.get(f"/api/v1/projects/{project.slug}/{what}/").json()


def test_the_first_clicks_in_an_example_show_an_estimate_and_charts(
    project: Project, client: Client
) -> None:
    run(Evaluation.objects.get(project=project).pk)

    progress = client.get(reverse("annotate:progress", args=[project.slug])).context
    evaluation = client.get(reverse("exporters:evaluations", args=[project.slug])).context

    asked = progress["reviewing"]
    assert isinstance(asked.outlook if asked else progress["outlook"], Estimate)
    assert sum(day.made for day in (asked.days if asked else progress["days"])) > 5
    assert progress["shows_answers"] == (asked is None)
    assert any(bar.value for bar in evaluation["bars"])


def test_the_example_of_a_kind_matches_its_readme(
    kind: str, project: Project, client: Client
) -> None:
    steps = get_json(client, project, "steps")["steps"]
    rules = get_json(client, project, "rules")["rules"]
    assert {name: str(number) for name, number in counts(project).items() if number} == table(
        kind, "What is in it"
    )
    assert {step["name"]: f"{step['state']}, {step['count']}".strip(", ") for step in steps} == (
        table(kind, "Steps")
    )
    assert {
        rule["rule"]: " ".join([rule["state"], *(one["pair_id"] for one in rule["broken"])])
        for rule in rules
    } == {name.strip("`"): stands for name, stands in table(kind, "Rules").items()}
    # Half done: a step is finished, one is current, and a rule is broken.
    assert {step["state"] for step in steps} >= {"done", "now"}
    assert any(rule["broken"] for rule in rules)


def test_the_backup_of_an_example_brings_everything_back(project: Project, tmp_path: Path) -> None:
    for job in Job.objects.filter(project=project, state=Job.State.QUEUED).order_by("pk"):
        run(job.pk)
    written, figures = export_files(project.slug, tmp_path), reported(project)
    back_up(path=tmp_path / "b.zip", project=project.slug, progress=CountingProgress())
    ines = project.memberships.get(name="ines")
    archive(by=ines)
    purge(slug=project.slug, typed=project.slug)

    restore(path=tmp_path / "b.zip", progress=CountingProgress())

    again = Project.objects.get(slug=project.slug)
    assert export_files(again.slug, tmp_path) == written
    assert reported(again) == figures
    assert verify(again).faults == []
    reports = AgreementReport.objects.filter(project=again, state=Job.State.DONE)
    assert {count_changes_since(report).words for report in reports} <= {""}


def reported(project: Project) -> list[Any]:
    """Return what reports and evaluations of a project say, without the keys of rows."""
    reports = AgreementReport.objects.filter(project=project).order_by("pk")
    evaluations = Evaluation.objects.filter(project=project).order_by("pk")
    figures = [{**(report.figures or {}), "through": None} for report in reports]
    return [*figures, *evaluations.values_list("results", flat=True)]
