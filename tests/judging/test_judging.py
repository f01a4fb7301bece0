"""Judgments: recorded once, kept for ever, never edited."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest
from django.db import IntegrityError
from django.utils import timezone

from annotate.judging import actions as judging
from annotate.judging import judging_session
from annotate.judging.actions import undo
from annotate.judgments import assignments
from annotate.models import Assignment, Candidate, Flag, Judgment, Project, Statement
from annotate.rewriting import actions as rewriting
from base.errors import Refused, Stale
from tests import factories

pytestmark = pytest.mark.both_databases

JUDGE = Assignment.Task.JUDGE
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
ONE = UUID("00000000-0000-4000-8000-000000000001")


class Scene:
    """A pair with two documents that were relevant and one that was not; ada has an assignment."""

    def __init__(self) -> None:
        self.project = factories.project()
        self.query = factories.query(self.project)
        self.first = factories.candidate(self.query, "A", prior=1)
        self.second = factories.candidate(self.query, "B", prior=2)
        self.never = factories.candidate(self.query, "C", prior=0)
        self.pair = factories.pair(self.query)
        self.narrative = factories.altered(self.pair)
        self.ada = factories.member(self.project, "ada")
        assignments.take_next(task=JUDGE, by=self.ada)

    def judge(self, relevance: int, of=None, **more) -> Statement:
        return judging.judge(
            narrative=self.narrative,
            candidate=of or self.first,
            relevance=relevance,
            by=self.ada,
            **more,
        )

    def current(self) -> list[tuple[str, int]]:
        rows = Judgment.objects.current().order_by("candidate__document__doc_id")
        return list(rows.values_list("candidate__document__doc_id", "relevance"))


@pytest.fixture(scope="module")
def scene_of_file(rows_of_file) -> Scene:
    return Scene()


def test_a_judgment_points_to_the_narrative_version_on_the_screen(scene):
    judgment = scene.judge(2)

    assert judgment.narrative == scene.narrative
    assert scene.current() == [("A", 2)]


def test_judging_again_supersedes(scene):
    first = scene.judge(2)
    second = scene.judge(0)

    first.refresh_from_db()
    assert first.ended_at == second.at
    assert second.replaces == first
    assert scene.current() == [("A", 0)]


def test_a_judgment_sent_twice_counts_once(scene):
    first = scene.judge(1, uuid=ONE)
    second = scene.judge(1, uuid=ONE)

    assert first == second
    assert Judgment.objects.count() == 1


def test_a_uuid_used_for_something_else_is_refused(scene):
    scene.judge(1, uuid=ONE)

    with pytest.raises(Refused, match="other content"):
        scene.judge(2, uuid=ONE)

    assert scene.current() == [("A", 1)]


def test_a_grade_outside_the_projects_grades_is_refused(scene):
    with pytest.raises(
        Refused, match=r"3 is not a grade of this project. Its grades are 0, 1, 2\."
    ):
        scene.judge(3)

    assert not Judgment.objects.exists()


def test_a_judgment_under_an_old_narrative_version_is_refused(scene):
    factories.narrative(scene.pair, text="Only plants in estuaries count.", version=2)

    with pytest.raises(Stale, match="changed while you were reading"):
        scene.judge(1)

    assert not Judgment.objects.exists()


def test_judging_without_an_assignment_is_refused(scene):
    ben = factories.member(scene.project, "ben")

    with pytest.raises(Refused, match="not your task"):
        judging.judge(narrative=scene.narrative, candidate=scene.first, relevance=1, by=ben)

    assert not Judgment.objects.exists()


def test_a_document_that_was_not_relevant_is_not_judged_again(scene):
    with pytest.raises(Refused, match="not among those to be judged"):
        scene.judge(1, of=scene.never)


def test_a_document_of_another_query_is_refused(scene):
    stranger = factories.candidate(factories.query(scene.project, "302"))

    with pytest.raises(Refused, match="not among those to be judged"):
        scene.judge(1, of=stranger)


def test_a_note_of_a_megabyte_is_refused(scene):
    with pytest.raises(Refused, match="1,000,000 characters"):
        scene.judge(1, note="x" * 1_000_000)

    assert not Judgment.objects.exists()


def test_the_assignment_is_done_when_every_document_is_judged(scene):
    scene.judge(1)
    assert not scene.ada.assignments.get().done_at

    scene.judge(0, of=scene.second)

    assert scene.ada.assignments.get().done_at


def test_undo_withdraws_the_last_judgment(scene):
    scene.judge(1)
    scene.judge(0, of=scene.second)

    back = undo(narrative=scene.narrative, by=scene.ada)

    assert back.candidate == scene.second
    assert scene.current() == [("A", 1)]
    assert scene.ada.assignments.get().done_at is None
    assert Judgment.objects.count() == 2


def test_undo_restores_the_replaced_judgment(scene):
    scene.judge(1)
    scene.judge(2)

    undo(narrative=scene.narrative, by=scene.ada)

    assert scene.current() == [("A", 1)]


def test_a_restored_judgment_can_be_replaced_again(scene):
    first = scene.judge(1)
    scene.judge(2)
    undo(narrative=scene.narrative, by=scene.ada)

    third = scene.judge(0)

    assert third.replaces == first
    assert scene.current() == [("A", 0)]


def test_undo_can_be_repeated_until_nothing_is_left(scene):
    scene.judge(1)
    scene.judge(2)
    scene.judge(0, of=scene.second)

    for _ in range(3):
        undo(narrative=scene.narrative, by=scene.ada)

    assert scene.current() == []
    with pytest.raises(Refused, match="nothing to take back"):
        undo(narrative=scene.narrative, by=scene.ada)


def test_judging_after_an_undo_starts_afresh(scene):
    scene.judge(1)
    undo(narrative=scene.narrative, by=scene.ada)

    scene.judge(2)

    assert scene.current() == [("A", 2)]


def test_a_flag_is_not_a_grade(scene):
    judging.flag(
        narrative=scene.narrative,
        candidate=scene.first,
        kind=Flag.Kind.CANNOT_JUDGE,
        by=scene.ada,
        words="The text is cut off.",
    )

    assert scene.current() == []
    assert Flag.objects.get().note == "The text is cut off."


def test_cannot_judge_needs_words(scene):
    with pytest.raises(Refused, match="Say in a few words why"):
        judging.flag(
            narrative=scene.narrative, candidate=scene.first, kind="cannot_judge", by=scene.ada
        )

    assert not Flag.objects.exists()


def test_later_needs_no_words_and_comes_back_at_the_end(scene):
    order = judging_session.read_judging_session(narrative=scene.narrative, by=scene.ada).order
    first, second = (scene.query.candidates.get(pk=pk) for pk in order)
    judging.flag(narrative=scene.narrative, candidate=first, kind="later", by=scene.ada)

    assert (
        judging_session.read_judging_session(narrative=scene.narrative, by=scene.ada).next()
        == second.pk
    )

    scene.judge(1, of=second)

    assert (
        judging_session.read_judging_session(narrative=scene.narrative, by=scene.ada).next()
        == first.pk
    )
    assert scene.ada.assignments.get().done_at is None


def test_judging_clears_a_flag(scene):
    judging.flag(narrative=scene.narrative, candidate=scene.first, kind="later", by=scene.ada)

    scene.judge(1)

    assert not Flag.objects.current().exists()
    assert Flag.objects.count() == 1


def test_undoing_a_flag_restores_the_judgment_it_replaced(scene):
    scene.judge(1, now=NOON)
    judging.flag(
        narrative=scene.narrative,
        candidate=scene.first,
        kind="problem",
        by=scene.ada,
        words="Wrong language.",
    )

    back = undo(narrative=scene.narrative, by=scene.ada)

    assert back.candidate == scene.first
    assert scene.current() == [("A", 1)]


def test_each_person_has_their_own_fixed_order(scene):
    project = factories.project("order", judge_scope=Project.Scope.POOL)
    query = factories.query(project)
    for _ in range(20):
        factories.candidate(query)
    narrative = factories.altered(factories.pair(query))
    ada, ben = factories.member(project, "ada"), factories.member(project, "ben")

    hers = judging_session.read_judging_session(narrative=narrative, by=ada).order

    assert hers == judging_session.read_judging_session(narrative=narrative, by=ada).order
    assert hers != judging_session.read_judging_session(narrative=narrative, by=ben).order
    assert sorted(hers) == sorted(
        judging_session.read_judging_session(narrative=narrative, by=ben).order
    )


def test_a_new_narrative_version_reopens_the_assignment(scene):
    scene.judge(1)
    scene.judge(1, of=scene.second)
    carla = factories.lead(scene.project)

    rewriting.rewrite_narrative(
        pair=scene.pair, text="Only plants in estuaries count.", by=carla, based_on=1
    )

    assert scene.ada.assignments.get().done_at is None
    assert scene.current() == [("A", 1), ("B", 1)]
    fresh = judging_session.read_judging_session(
        narrative=factories.altered(scene.pair), by=scene.ada
    )
    assert (fresh.settled, fresh.total) == (0, 2)


def test_an_archived_project_refuses_judgments(scene):
    scene.project.archived_at, scene.project.archived_by = NOON, factories.user("carla")
    scene.project.save()
    scene.ada.refresh_from_db()

    with pytest.raises(Refused, match="archived"):
        scene.judge(1)


def test_the_database_itself_refuses_two_current_judgments(scene):
    scene.judge(1)

    with pytest.raises(IntegrityError):
        factories.judgment(scene.narrative, scene.first, scene.ada, 2)


def test_undo_passes_over_a_document_that_was_taken_out(scene):
    scene.judge(1)
    scene.judge(0, of=scene.second)
    Candidate.objects.filter(pk=scene.second.pk).update(
        removed_at=timezone.now(), removed_reason="Twice here."
    )

    back = undo(narrative=scene.narrative, by=scene.ada)

    assert back.candidate == scene.first
    assert scene.current() == [("B", 0)]
