"""Two people acting at the same time: rejudge requests, judgments and settling many."""

from __future__ import annotations

from typing import Any

import pytest

from annotate.guidelines import rejudge_requests
from annotate.guidelines.actions import write_guideline
from annotate.guidelines.rejudge_requests import AnswerSelection
from annotate.judging import actions as judging
from annotate.judgments import assignments
from annotate.models import Adjudication, Assignment, RejudgeRequest, Statement
from audit.settling.queue_filters import QueueFilter
from audit.settling.settle_many import Rule, RuleChoice, preview, settle_many
from tests import factories
from tests.reviews.test_at_once import at_once, fresh
from tests.second_pass import make_scene

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.postgresql,
    pytest.mark.both_databases,
]


@pytest.fixture
def scene(transactional_db):
    return make_scene()


JUDGE = Assignment.Task.JUDGE


def answered_all(scene: Any, by: Any) -> list[Any]:
    """Take a judging task and judge both documents."""
    assignments.take(pair=scene.pair, task=JUDGE, by=by)
    return [
        judging.judge(narrative=scene.narrative, candidate=candidate, relevance=1, by=by)
        for candidate in (scene.first, scene.second)
    ]


def test_concurrent_request_and_judgment_leave_a_consistent_task(scene):
    judgment, _ = answered_all(scene, scene.ada)

    request, answer = at_once(
        lambda: rejudge_requests.ask(
            statement=judgment, words="Look again.", by=fresh(scene.carla)
        ),
        lambda: judging.judge(
            narrative=scene.narrative, candidate=scene.first, relevance=2, by=fresh(scene.ada)
        ),
    )

    assert isinstance(answer, Statement)
    assert type(request).__name__ in {"RejudgeRequest", "Stale"}
    assert not RejudgeRequest.objects.open().exists()
    assert scene.ada.assignments.get(task=JUDGE).done_at is not None


def test_two_concurrent_rejudge_requests_make_one(scene):
    judgment, _ = answered_all(scene, scene.ada)
    other = factories.lead(scene.project, "carol")

    outcomes = at_once(
        *(
            lambda lead=lead: rejudge_requests.ask(
                statement=judgment, words=f"{lead.name} asks.", by=fresh(lead)
            )
            for lead in (scene.carla, other)
        )
    )

    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Refused", "RejudgeRequest"]
    assert RejudgeRequest.objects.count() == 1


def test_requests_for_older_judgments_lose_no_concurrent_answer(scene):
    answered_all(scene, scene.ada)
    guideline = write_guideline(text="Rivers do not count.", by=scene.carla, based_on=0)
    token = rejudge_requests.count_older(guideline, AnswerSelection()).token

    requested, answer = at_once(
        lambda: rejudge_requests.ask_older(
            guideline=guideline,
            selection=AnswerSelection(),
            words="Again.",
            token=token,
            by=fresh(scene.carla),
        ),
        lambda: judging.judge(
            narrative=scene.narrative, candidate=scene.first, relevance=2, by=fresh(scene.ada)
        ),
    )

    assert isinstance(answer, Statement)
    waiting = RejudgeRequest.objects.open().count()
    # Either both were requested and one is answered, or the count had changed and none was.
    assert (requested, waiting) == (2, 1) or (type(requested).__name__, waiting) == ("Stale", 0)
    assert (scene.ada.assignments.get(task=JUDGE).done_at is None) is (waiting == 1)


def test_one_of_two_leads_settling_many_at_once_gets_stale(disputed):
    other = factories.lead(disputed.project, "carol")
    choice = RuleChoice(Rule.GRADE, grade=2)
    token = preview(disputed.carla, QueueFilter(), choice).token

    outcomes = at_once(
        *(
            lambda lead=lead: settle_many(
                filters=QueueFilter(),
                choice=choice,
                cause="edge",
                reason="So.",
                token=token,
                by=fresh(lead),
            )
            for lead in (disputed.carla, other)
        )
    )

    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Stale", "UUID"]
    assert Adjudication.objects.count() == 1
