"""Rejudge requests: nothing is edited, and any later answer of the judge answers them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import IntegrityError

from annotate.guidelines import rejudge_requests
from annotate.guidelines.actions import write_guideline
from annotate.judging import actions as judging
from annotate.judging import judging_session
from annotate.judging.actions import undo
from annotate.judgments import assignments
from annotate.models import Assignment, Flag, Judgment, RejudgeRequest, User
from annotate.rewriting import actions as rewriting
from base.errors import Refused, Stale
from tests import factories

pytestmark = pytest.mark.both_databases

JUDGE = Assignment.Task.JUDGE
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


class Scene:
    """ada has judged both documents of a pair, A 1 and B 0, and is done; carla leads."""

    def __init__(self) -> None:
        self.project = factories.project()
        self.query = factories.query(self.project)
        self.first = factories.candidate(self.query, "A")
        self.second = factories.candidate(self.query, "B")
        self.pair = factories.pair(self.query)
        self.narrative = factories.altered(self.pair)
        self.ada = factories.member(self.project, "ada")
        self.carla = factories.lead(self.project)
        assignments.take_next(task=JUDGE, by=self.ada)
        self.judgment = self.judge(1, self.first)
        self.judge(0, self.second)

    def judge(self, relevance: int, of=None, by=None) -> Any:
        return judging.judge(
            narrative=self.narrative,
            candidate=of or self.first,
            relevance=relevance,
            by=by or self.ada,
        )

    def ask(self, answer=None, words="Look at the second table.", **more) -> RejudgeRequest:
        return rejudge_requests.ask(
            statement=answer or self.judgment, words=words, by=more.pop("by", self.carla), **more
        )

    def flag(self, kind=Flag.Kind.CANNOT_JUDGE) -> Any:
        return judging.flag(
            narrative=self.narrative, candidate=self.first, kind=kind, words="Why?", by=self.ada
        )

    def judging_session(self) -> judging_session.JudgingSession:
        return judging_session.read_judging_session(narrative=self.narrative, by=self.ada)

    def done(self) -> bool:
        return self.ada.assignments.get(task=JUDGE).done_at is not None


@pytest.fixture
def scene(db) -> Scene:
    return Scene()


def test_the_document_is_shown_again_and_the_judgment_is_unchanged(scene):
    assert scene.done()

    scene.ask()

    scene.judgment.refresh_from_db()
    assert (scene.judgment.relevance, scene.judgment.ended_at) == (1, None)
    assert scene.judging_session().next() == scene.first.pk
    assert (scene.judging_session().settled, scene.judging_session().total) == (1, 2)
    assert not scene.done()


def test_a_rejudge_request_comes_before_new_documents(scene):
    third = factories.candidate(scene.query, "C")
    assert scene.judging_session().next() == third.pk

    scene.ask()

    assert scene.judging_session().next() == scene.first.pk


@pytest.mark.parametrize("relevance", [1, 2])
def test_any_grade_answers_a_request(scene, relevance):
    scene.ask()

    answer = scene.judge(relevance)

    assert answer != scene.judgment
    assert answer.replaces == scene.judgment
    assert not RejudgeRequest.objects.open().exists()
    assert scene.judging_session().next() is None
    assert scene.done()


def test_a_flagged_document_is_shown_again_until_there_is_another_answer(scene):
    flag = scene.flag()
    assert scene.done()

    scene.ask(flag)

    session = scene.judging_session()
    assert (session.next(), session.settled, session.total) == (scene.first.pk, 1, 2)
    assert scene.done() is False
    assert RejudgeRequest.objects.open().get().statement == flag


@pytest.mark.parametrize("answer", ["grade", "the same flag"])
def test_a_grade_or_the_same_flag_answers_a_request_about_a_flag(scene, answer):
    scene.ask(scene.flag())

    scene.judge(2) if answer == "grade" else scene.flag()

    assert not RejudgeRequest.objects.open().exists()
    assert scene.judging_session().next() is None
    assert scene.done()


def test_a_document_that_was_put_off_is_not_asked_for(scene):
    later = scene.flag(Flag.Kind.LATER)

    with pytest.raises(Refused, match="waits for an answer already"):
        scene.ask(later)

    assert not RejudgeRequest.objects.exists()


def test_undoing_the_answer_restores_judgment_and_rejudge_request(scene):
    scene.ask()
    scene.judge(2)

    undo(narrative=scene.narrative, by=scene.ada)

    scene.judgment.refresh_from_db()
    assert scene.judgment.ended_at is None
    assert RejudgeRequest.objects.open().get().statement == scene.judgment
    assert scene.judging_session().next() == scene.first.pk
    assert not scene.done()


def test_an_answer_that_was_only_taken_back_has_not_answered_its_request(scene):
    guideline = write_guideline(text="Read to the end.", based_on=0, by=scene.carla)
    scene.ask()
    RejudgeRequest.objects.update(guideline=guideline)
    judging.withdraw(uuid=scene.judgment.uuid, pair=scene.pair, by=scene.ada)
    assert rejudge_requests.count_requests(guideline) == (0, 0, 0)

    scene.judge(2)

    assert rejudge_requests.count_requests(guideline) == (0, 1, 0)


def test_a_document_flagged_later_keeps_its_request_and_comes_last(scene):
    third = factories.candidate(scene.query, "C")
    scene.ask()

    later = judging.flag(
        narrative=scene.narrative, candidate=scene.first, kind=Flag.Kind.LATER, by=scene.ada
    )

    judging_session = scene.judging_session()
    assert judging_session.next() == third.pk
    assert judging_session.rejudge_uuids == [scene.judgment.uuid, later.uuid]
    scene.judge(0, third)
    assert scene.judging_session().next() == scene.first.pk
    assert not scene.done()


def test_a_rejudge_request_leaves_work_in_the_assignment_while_others_are_judged_again(
    scene,
):
    scene.ask()

    scene.judge(1, scene.second)

    assert not scene.done()


def test_withdrawing_a_request_ends_the_assignment_again(scene):
    rejudge_request = scene.ask()

    rejudge_requests.withdraw(rejudge_request=rejudge_request, by=scene.carla, now=NOON)
    rejudge_requests.withdraw(rejudge_request=rejudge_request, by=scene.carla)

    rejudge_request.refresh_from_db()
    assert (rejudge_request.withdrawn_at, rejudge_request.withdrawn_by) == (NOON, scene.carla)
    assert scene.judging_session().next() is None
    assert scene.done()


def test_withdrawing_a_request_keeps_an_assignment_with_work_left_open(scene):
    factories.candidate(scene.query, "C")
    rejudge_request = scene.ask()

    rejudge_requests.withdraw(rejudge_request=rejudge_request, by=scene.carla)

    assert not scene.done()


def test_an_answered_rejudge_request_cannot_be_withdrawn(scene):
    rejudge_request = scene.ask()
    scene.judge(1)

    with pytest.raises(Refused, match="already answered"):
        rejudge_requests.withdraw(rejudge_request=rejudge_request, by=scene.carla)


def test_the_same_rejudge_request_twice_is_one(scene):
    assert scene.ask() == scene.ask()
    assert RejudgeRequest.objects.count() == 1


def test_a_second_rejudge_request_with_other_words_is_refused(scene):
    scene.ask()

    with pytest.raises(Refused, match="asked already"):
        scene.ask(words="Look at the title.")

    assert RejudgeRequest.objects.get().words == "Look at the second table."


def test_the_database_refuses_two_rejudge_requests_for_one_judgment(scene):
    scene.ask()

    with pytest.raises(IntegrityError):
        RejudgeRequest.objects.create(statement=scene.judgment, words="Again.", by=scene.carla)


def test_a_request_needs_words(scene):
    with pytest.raises(Refused, match="what to look at"):
        scene.ask(words=" \n ")

    assert not RejudgeRequest.objects.exists()


def test_a_superseded_judgment_cannot_be_asked_for(scene):
    scene.judge(2)

    with pytest.raises(Stale, match="changed in the meantime"):
        scene.ask()

    assert not RejudgeRequest.objects.exists()
    assert scene.done()


def test_nothing_is_asked_under_an_older_narrative(scene):
    rewriting.rewrite_narrative(
        pair=scene.pair, side="altered", text="Only plants in rivers.", by=scene.carla, based_on=1
    )

    with pytest.raises(Stale, match="The narrative changed"):
        scene.ask()


@pytest.mark.parametrize("who", ["ada", "eve"])
def test_only_leads_of_the_project_ask(scene, who):
    asking = scene.ada if who == "ada" else factories.lead(factories.project("other"), "eve")

    with pytest.raises(Refused, match="Only leads of this project"):
        scene.ask(by=asking)

    assert not RejudgeRequest.objects.exists()


def test_a_machine_is_not_asked(scene):
    machine = factories.machine(scene.project)
    judged = factories.judgment(scene.narrative, scene.first, machine, 2)

    with pytest.raises(Refused, match="does not sign in here"):
        scene.ask(judged)


def test_whoever_has_a_closed_account_is_not_asked(scene):
    ben = factories.member(scene.project, "ben")
    judged = factories.judgment(scene.narrative, scene.first, ben, 2)
    User.objects.filter(username="ben").update(is_active=False)

    with pytest.raises(Refused, match="does not sign in here"):
        scene.ask(Judgment.objects.get(pk=judged.pk))


def test_an_author_of_a_loaded_judgment_is_given_an_assignment(scene):
    ben = factories.member(scene.project, "ben")
    judged = factories.judgment(scene.narrative, scene.first, ben, 2, source="file")

    scene.ask(judged)

    assignment = ben.assignments.get(task=JUDGE)
    assert assignment.touched_at is not None
    assert (
        judging_session.read_judging_session(narrative=scene.narrative, by=ben).next()
        == scene.first.pk
    )


def test_a_request_is_refused_if_no_assignment_is_free(scene):
    assignments.take(pair=scene.pair, task=JUDGE, by=factories.member(scene.project, "dan"))
    ben = factories.member(scene.project, "ben")
    judged = factories.judgment(scene.narrative, scene.first, ben, 2, source="file")

    with pytest.raises(Refused, match="has no task here, and none is free"):
        scene.ask(judged)

    assert not RejudgeRequest.objects.exists()


def test_an_assignment_with_repeats_is_done_once_all_repeats_are_answered(db):
    project = factories.project(repeat_percent=50)
    query = factories.query(project)
    pool_of = [factories.candidate(query, doc_id) for doc_id in "ABCDEF"]
    pair = factories.pair(query)
    narrative = factories.altered(pair)
    ada, carla = factories.member(project, "ada"), factories.lead(project)
    assignments.take(pair=pair, task=JUDGE, by=ada)
    for candidate in pool_of:
        judging.judge(narrative=narrative, candidate=candidate, relevance=1, by=ada)
    judgment = Judgment.objects.get(candidate=pool_of[0])
    rejudge_request = rejudge_requests.ask(statement=judgment, words="Look at the table.", by=carla)

    rejudge_requests.withdraw(rejudge_request=rejudge_request, by=carla)

    # Three documents are repeated, and their repeats are not answered yet.
    assert ada.assignments.get().done_at is None
    while (
        number := judging_session.read_judging_session(narrative=narrative, by=ada).next()
    ) is not None:
        sent = {"narrative": narrative.pk, "candidate": number, "relevance": 1}
        judging.record_sent(sent, pair=pair, by=ada)
    assert ada.assignments.get().done_at is not None
    rejudge_request = rejudge_requests.ask(statement=judgment, words="Look at the table.", by=carla)
    assert ada.assignments.get().done_at is None
    rejudge_requests.withdraw(rejudge_request=rejudge_request, by=carla)
    assert ada.assignments.get().done_at is not None


def test_a_request_marks_an_untouched_assignment_as_begun(
    scene,
):
    ben = factories.member(scene.project, "ben")
    assignments.take(pair=scene.pair, task=JUDGE, by=ben)
    judged = factories.judgment(scene.narrative, scene.first, ben, 2, source="file")

    scene.ask(judged)

    assert ben.assignments.get(task=JUDGE).touched_at is not None


def test_an_answer_that_waited_in_a_browser_is_older_than_guidelines_written_meanwhile(scene):
    guideline = write_guideline(text="Read to the end.", based_on=0, by=scene.carla)
    late = scene.judge(2)
    assert late.at > guideline.created_at

    Judgment.objects.filter(pk=late.pk).update(made_at=guideline.created_at - timedelta(hours=1))

    older = rejudge_requests.older(guideline, rejudge_requests.AnswerSelection())
    assert late.pk in older.values_list("pk", flat=True)
