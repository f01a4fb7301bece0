"""The rows of the loaded example project: every page has something to show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.db.models import Count, Q
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotate.judging.judging_session import read_judging_session
from annotate.judgments import assignments, open_pairs
from annotate.models import (
    Adjudication,
    Assignment,
    Candidate,
    Guideline,
    InstructionPair,
    Judgment,
    Membership,
    Narrative,
    Project,
    User,
)
from annotate.overview.finish_date import Estimate
from annotate.pairs.pool import candidates_to_judge, judged_narrative
from audit.models import AgreementReport, Decision, Rating, Review
from config.examples.tides import ensure_example
from exporters.models import Evaluation

pytestmark = pytest.mark.django_db

Task = Assignment.Task


@pytest.fixture(scope="module", autouse=True)
def loaded(rows_of_file: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Load the example once for this file."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(settings, "DATA", tmp_path_factory.mktemp("data"))
        ensure_example()
        yield


@pytest.fixture
def project() -> Project:
    return Project.objects.get(slug="example")


def member(project: Project, name: str) -> Membership:
    return project.memberships.get(name=name)


def pair(project: Project, pair_id: str) -> InstructionPair:
    return project.pairs.get(pair_id=pair_id)


def test_the_cast_has_its_roles(project: Project) -> None:
    cast = {
        one.name: (one.role, one.is_machine, one.user is not None)
        for one in project.memberships.select_related("user")
    }

    assert cast == {
        "ada": ("annotator", False, True),
        "ben": ("annotator", False, True),
        "carla": ("lead", False, True),
        "dan": ("annotator", False, True),
        "example-model": ("annotator", True, False),
    }


def test_every_grade_has_its_sentence(project: Project) -> None:
    grades = list(project.grades.order_by("value").values_list("value", "name", "sentence"))

    assert [(value, name) for value, name, _ in grades] == [
        (0, "Not relevant"),
        (1, "Relevant"),
        (2, "Highly relevant"),
    ]
    assert all(len(sentence.split()) >= 8 for *_, sentence in grades)


def test_the_guidelines_are_those_of_the_file(project: Project) -> None:
    text = (Path(__file__).parents[2] / "examples/tides/guideline.md").read_text(encoding="utf-8")

    latest = Guideline.objects.latest_of(project)

    assert latest is not None
    assert (latest.version, latest.text, latest.author.name) == (1, text.strip(), "carla")


def test_tables_are_known_as_tables(project: Project) -> None:
    markups = Counter(project.documents.values_list("markup", flat=True))

    assert markups == {"plain": 68, "html": 14, "markdown": 8}


def test_half_of_the_queries_are_still_to_be_rewritten(project: Project) -> None:
    waiting = project.pairs.to_rewrite().order_by("pair_id").values_list("pair_id", flat=True)

    assert list(waiting) == ["905", "906", "907", "908"]


def test_judges_have_assignments_for_the_pairs_they_judged(
    project: Project,
) -> None:
    judging_assignments = Assignment.objects.filter(task=Task.JUDGE).order_by(
        "pair__pair_id", "member"
    )

    taken = {
        (assignment.pair.pair_id, assignment.member.name): assignment.done_at is not None
        for assignment in judging_assignments
    }

    assert taken == {
        ("901", "ada"): True,
        ("901", "ben"): True,
        ("902", "ada"): True,
        ("902", "ben"): False,
        ("903", "ada"): True,
        ("903", "ben"): True,
        ("904", "ada"): True,
        ("904", "ben"): False,
        ("907_0", "ada"): True,
        ("909", "ada"): True,
        ("909", "ben"): False,
    }


def test_ben_has_two_documents_left_under_the_second_version(project: Project) -> None:
    narrative = judged_narrative(pair(project, "902"))
    assert narrative is not None

    ben = read_judging_session(narrative=narrative, by=member(project, "ben"))

    assert narrative.version == 2
    assert (ben.settled, ben.total) == (5, 7)


def test_ben_is_not_given_again_what_he_has_judged(project: Project) -> None:
    taken = assignments.take_next(task=Task.JUDGE, by=member(project, "ben"))

    assert taken is not None
    assert taken.pair.pair_id == "907_0"


def test_everybody_has_something_to_do(project: Project) -> None:
    free = {
        (name, task.value): open_pairs.open_pairs(task=task, by=member(project, name)).count()
        for name in ("ada", "ben", "carla", "dan")
        for task in Task
    }

    assert all(free.values()), free
    assert free["dan", "review"] == 6
    assert free["ada", "review"] == 4


def test_auditors_have_submitted_and_the_lead_has_decided_once(project: Project) -> None:
    reviews = Review.objects.values_list("narrative__pair__pair_id", "auditor__name")
    decision = Decision.objects.select_related("narrative__pair", "by").get()

    assert not Review.objects.filter(submitted_at=None).exists()
    assert Counter(name for _, name in reviews) == {"dan": 5, "ada": 4}
    assert (decision.narrative.pair.pair_id, decision.outcome) == ("907_0", "accepted")
    assert Rating.objects.filter(level="poor").exclude(words="").count() == 3
    assert Rating.objects.filter(level="poor").count() == 3


def test_altered_narratives_have_their_authors(project: Project) -> None:
    altered = Narrative.objects.filter(side="altered", author__isnull=False).order_by(
        "pair__pair_id", "version"
    )

    authors = [(one.pair.pair_id, one.version, str(one.author)) for one in altered]

    assert authors == [
        ("901", 1, "ben"),
        ("902", 1, "ada"),
        ("902", 2, "ada"),
        ("903", 1, "ben"),
        ("904", 1, "ada"),
        ("909", 1, "ada"),
    ]


def test_two_people_differ_on_six_documents_in_force_and_one_is_settled(
    project: Project,
) -> None:
    differing = [
        (one.pair.pair_id, doc_id)
        for one in Narrative.objects.current().filter(side="altered").select_related("pair")
        for doc_id in Candidate.objects.filter(query=one.pair.query_id)
        .annotate(
            grades=Count(
                "statements__relevance",
                distinct=True,
                filter=Q(
                    statements__narrative=one,
                    statements__ended_at=None,
                    statements__annotator__is_machine=False,
                ),
            )
        )
        .filter(grades__gt=1)
        .values_list("document__doc_id", flat=True)
    ]

    assert sorted(differing) == [
        ("901", "CO-230627-05"),
        ("902", "MW-240917-03"),
        ("903", "CO-230928-01"),
        ("903", "HL-220714-03"),
        ("904", "TR-230615-06"),
        ("909", "HB-240206-03"),
    ]
    assert Adjudication.objects.get(narrative__pair__pair_id="901").relevance == 1


def test_claims_are_the_machine_raters_and_stay_in_scope(project: Project) -> None:
    claims = Judgment.objects.filter(
        annotator__name="example-model", narrative__pair__origin="llm"
    ).select_related("narrative__pair", "candidate")

    assert claims.count() == 19
    for claim in claims:
        assert claim.candidate in candidates_to_judge(claim.narrative.pair)


def test_an_agreement_report_is_requested(project: Project) -> None:
    report = AgreementReport.objects.get(project=project)

    assert report.state == AgreementReport.State.QUEUED


def test_the_answers_are_of_the_last_weeks_so_that_progress_has_something_to_show(
    project: Project, client: Client
) -> None:
    yesterday = timezone.now().astimezone(UTC).date() - timedelta(days=1)
    client.force_login(User.objects.get(username="carla"))

    page = client.get(reverse("annotate:progress", args=[project.slug])).context

    assert Decision.objects.get().at.astimezone(UTC).date() == yesterday
    assert {day.on: day.made for day in page["days"] if day.made} == {
        yesterday - timedelta(days=before): made
        for before, made in (
            *((22, 12), (21, 14), (16, 7), (15, 7), (11, 7)),
            *((10, 13), (9, 4), (4, 5), (3, 7), (2, 6)),
        )
    }
    assert isinstance(page["outlook"], Estimate)


def test_an_evaluation_of_both_systems_is_requested(project: Project) -> None:
    evaluation = Evaluation.objects.get(project=project)

    assert [one["name"] for one in evaluation.systems] == ["follows", "ignores"]
    assert evaluation.state == Evaluation.State.QUEUED
