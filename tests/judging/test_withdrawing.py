"""Withdrawing statements: any of them, at any time, however often it is sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from annotate.judging import actions as judging
from annotate.judging.actions import Recorded
from annotate.judgments import assignments
from annotate.models import Assignment, Flag, Judgment, Statement
from base.errors import Refused
from tests import factories
from tests.judging.test_judging import Scene

pytestmark = pytest.mark.both_databases

JUDGE = Assignment.Task.JUDGE


def uuid(number: int) -> UUID:
    return UUID(int=number + 1, version=4)


@pytest.fixture
def scene(db) -> Scene:
    return Scene()


def current_statements(scene: Scene) -> list[tuple[str, Any]]:
    """Return the current statements as (document id, relevance or kind of flag)."""
    flags = Flag.objects.current().values_list("candidate__document__doc_id", "flag")
    return sorted([*scene.current(), *flags], key=str)


def flag(scene: Scene, kind: str = "later", of=None, **more) -> Statement:
    more.setdefault("words", "Cut off." if kind != "later" else "")
    return judging.flag(
        narrative=scene.narrative, candidate=of or scene.first, kind=kind, by=scene.ada, **more
    )


def withdraw(scene: Scene, row: Statement, by=None) -> Recorded:
    return judging.withdraw(uuid=row.uuid, pair=scene.pair, by=by or scene.ada)


def test_a_withdrawn_judgment_is_kept(scene):
    judgment = scene.judge(1)

    withdraw(scene, judgment)

    judgment.refresh_from_db()
    assert judgment.withdrawn_at == judgment.ended_at is not None
    assert current_statements(scene) == []


def test_withdrawing_twice_changes_nothing(scene):
    first, second = scene.judge(1), scene.judge(2)

    withdraw(scene, second)
    withdraw(scene, second)

    first.refresh_from_db()
    assert first.ended_at is None
    assert current_statements(scene) == [("A", 1)]


def test_withdrawing_a_flag_twice_changes_nothing(scene):
    judgment, put = scene.judge(1), flag(scene)

    withdraw(scene, put)
    withdraw(scene, put)

    judgment.refresh_from_db()
    assert judgment.ended_at is None
    assert current_statements(scene) == [("A", 1)]


def test_a_flag_is_withdrawn_only_if_somebody_withdrew_it(scene):
    answered, taken_back = flag(scene), flag(scene, of=scene.second)
    scene.judge(1)

    withdraw(scene, taken_back)

    answered.refresh_from_db()
    taken_back.refresh_from_db()
    assert (answered.ended_at is not None, answered.withdrawn_at) == (True, None)
    assert taken_back.withdrawn_at == taken_back.ended_at is not None


def test_withdrawing_a_judgment_restores_the_flag_it_cleared(scene):
    flag(scene)
    judgment = scene.judge(1)

    withdraw(scene, judgment)

    assert current_statements(scene) == [("A", "later")]


def test_withdrawing_a_superseded_judgment_keeps_the_newer_one(scene):
    first, second, third = scene.judge(0), scene.judge(1), scene.judge(2)

    judgment = withdraw(scene, second)

    assert "a newer answer" in judgment.warning
    assert current_statements(scene) == [("A", 2)]
    third.refresh_from_db()
    assert third.replaces == first


def test_withdrawing_the_newest_after_the_middle_restores_the_oldest(scene):
    scene.judge(0)
    second = flag(scene, "problem")
    third = scene.judge(2)
    withdraw(scene, second)

    withdraw(scene, third)

    assert current_statements(scene) == [("A", 0)]


def test_undo_goes_back_through_flags_and_judgments(scene):
    scene.judge(1)
    flag(scene)
    scene.judge(2)
    seen = [current_statements(scene)]

    for _ in range(3):
        judging.undo(narrative=scene.narrative, by=scene.ada)
        seen.append(current_statements(scene))

    assert seen == [[("A", 2)], [("A", "later")], [("A", 1)], []]


def test_the_assignment_is_done_again_when_the_flag_over_its_last_judgment_is_withdrawn(scene):
    scene.judge(1)
    scene.judge(1, of=scene.second)
    put = flag(scene)
    assert scene.ada.assignments.get().done_at is None

    withdraw(scene, put)

    assert scene.ada.assignments.get().done_at is not None


def test_an_assignment_taken_after_all_answers_is_done_once_one_is_withdrawn(
    scene,
):
    scene.judge(1)
    scene.judge(1, of=scene.second)
    again = scene.judge(2)
    scene.ada.assignments.update(touched_at=None, done_at=None)

    withdraw(scene, again)

    assignment = scene.ada.assignments.get()
    assert assignment.done_at is not None
    assert assignment.touched_at == assignment.done_at


def test_withdrawing_the_last_judgment_reopens_the_assignment(scene):
    scene.judge(1)
    last = scene.judge(1, of=scene.second)

    withdraw(scene, last)

    assert scene.ada.assignments.get().done_at is None


def test_someone_elses_judgment_cannot_be_withdrawn(scene):
    judgment = scene.judge(1)
    scene.project.overlap_judge = 2
    scene.project.save()
    ben = factories.member(scene.project, "ben")
    assignments.take(pair=scene.pair, task=JUDGE, by=ben)

    with pytest.raises(Refused, match="it was not saved"):
        withdraw(scene, judgment, by=ben)

    assert current_statements(scene) == [("A", 1)]


def test_an_unknown_uuid_cannot_be_withdrawn(scene):
    with pytest.raises(Refused, match="it was not saved"):
        judging.withdraw(uuid=uuid(1), pair=scene.pair, by=scene.ada)


def test_a_judgment_from_a_file_cannot_be_withdrawn(scene):
    loaded = factories.judgment(scene.narrative, scene.first, scene.ada, source="file")

    with pytest.raises(Refused, match="came from a file"):
        withdraw(scene, loaded)

    assert current_statements(scene) == [("A", 1)]


def test_withdrawing_in_an_archived_project_is_refused(scene):
    judgment = scene.judge(1)
    scene.ada.project.archived_at = judgment.at

    with pytest.raises(Refused, match="archived"):
        withdraw(scene, judgment)

    assert current_statements(scene) == [("A", 1)]


class AnyHistory(TestCase):
    """Any statements and withdrawals, in any order and sent any number of times."""

    def setUp(self) -> None:
        self.scene = Scene()
        self.of = [self.scene.first, self.scene.second]

    def send(self, kind: str, number: int, candidate: int, value: int) -> bool:
        """Send entry `number`; return whether it was saved."""
        scene, on = self.scene, self.of[candidate]
        kinds: dict[str, Callable[[], object]] = {
            "judgment": lambda: scene.judge(value, of=on, uuid=uuid(number), late=True),
            "flag": lambda: flag(
                scene, Flag.Kind.values[value], on, words="Why.", uuid=uuid(number), late=True
            ),
            "undo": lambda: judging.withdraw(uuid=uuid(value), pair=scene.pair, by=scene.ada),
        }
        try:
            kinds[kind]()
        except Refused:
            return False
        return True

    @settings(max_examples=60)
    @given(st.data())
    def test_at_most_one_statement_is_current_and_none_is_lost(self, data: st.DataObject) -> None:
        statements = st.tuples(st.sampled_from(["judgment", "flag", "undo"]), st.integers(0, 1))
        entries = [
            (kind, number, candidate, data.draw(st.integers(0, number if kind == "undo" else 2)))
            for number, (kind, candidate) in enumerate(data.draw(st.lists(statements, max_size=9)))
        ]
        resent = data.draw(st.lists(st.sampled_from(entries), max_size=6)) if entries else []
        order = data.draw(st.permutations(entries + resent))

        saved, gone, history = set(), set(), []
        for entry in order:
            if not self.send(*entry):
                continue
            kind, number, candidate, value = entry
            if kind == "undo":
                gone.add(value)
            elif number not in saved:
                saved.add(number)
                history.append((number, candidate, value if kind == "judgment" else kind))

        stands = {
            row.candidate_id: row.uuid
            for rows in (Judgment.objects.current(), Flag.objects.current())
            for row in rows
        }
        expected = {
            self.of[candidate].pk: uuid(number)
            for number, candidate, _ in history
            if number not in gone
        }
        rows = [*Judgment.objects.current(), *Flag.objects.current()]
        assert len(rows) == len(stands)
        assert stands == expected
        assert Judgment.objects.count() + Flag.objects.count() == len(saved)
        settled = {row.candidate_id for row in rows if row.flag != Flag.Kind.LATER}
        assignment = self.scene.ada.assignments.get()
        assert (assignment.done_at is not None) == (len(settled) == 2)
