"""Settling whether a document meets a condition: permissions, refusals, repeats, withdrawal."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.db import IntegrityError, transaction

from annotate.models import Condition, ConditionAdjudication, Judgment, Verdict
from audit.settling.adjudication import (
    adopt_verdict,
    settle_condition,
    withdraw_adjudication,
)
from base.errors import Refused, Stale
from tests import factories

pytestmark = pytest.mark.both_databases

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)


@pytest.fixture
def answered(disputed):
    """The scene, where ada answers "not met" to a condition and ben "met"."""
    disputed.condition = Condition.objects.create(
        narrative=disputed.narrative, number=1, text="At sea."
    )
    disputed.no = Verdict.objects.create(
        statement=disputed.adas, condition=disputed.condition, answer="not_met"
    )
    disputed.yes = Verdict.objects.create(
        statement=disputed.bens, condition=disputed.condition, answer="met"
    )
    return disputed


def settle(scene, **changes):
    usual = {
        "condition": scene.condition,
        "candidate": scene.first,
        "answer": "met",
        "reason": "The mouth counts as sea.",
        "cause": "guideline",
        "by": scene.carla,
    }
    return settle_condition(**(usual | changes))


def test_settling_keeps_the_answer_and_leaves_the_verdicts(answered):
    made = settle(answered, now=NOON)

    assert (made.answer, made.cause, made.by, made.at) == ("met", "guideline", answered.carla, NOON)
    assert sorted(Verdict.objects.values_list("answer", flat=True)) == ["met", "not_met"]


def test_the_same_decision_twice_is_one(answered):
    assert settle(answered) == settle(answered)
    assert ConditionAdjudication.objects.count() == 1


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"answer": "perhaps"}, "Choose one: met, not met, or can't tell."),
        ({"reason": "  "}, "Give a reason"),
        ({"reason": "x" * 10_001}, "10,001 characters"),
        ({"cause": "mood"}, "choose one of the causes"),
    ],
)
def test_invalid_decision_on_a_condition_is_refused(answered, changes, sentence):
    with pytest.raises(Refused, match=sentence):
        settle(answered, **changes)

    assert not ConditionAdjudication.objects.exists()


@pytest.mark.parametrize("who", ["ada", "eve"])
def test_only_leads_of_the_project_settle(answered, who):
    with pytest.raises(Refused, match="Only leads of this project"):
        settle(answered, by=getattr(answered, who))


def test_another_decision_is_refused_while_one_is_current(answered):
    settle(answered)

    with pytest.raises(Refused, match="carla has settled this as “Met”"):
        settle(answered, answer="not_met")


def test_nothing_is_settled_if_nobody_differs(answered):
    Verdict.objects.filter(pk=answered.no.pk).update(answer="met")

    with pytest.raises(Refused, match="Nobody disagrees about this condition"):
        settle(answered)


def test_verdict_of_a_machine_makes_nothing_to_settle(answered):
    Verdict.objects.filter(pk=answered.no.pk).update(answer="met")
    judgment = factories.judgment(
        answered.narrative, answered.first, factories.machine(answered.project), 0
    )
    Verdict.objects.create(statement=judgment, condition=answered.condition, answer="not_met")

    with pytest.raises(Refused, match="Nobody disagrees"):
        settle(answered)


def test_nothing_is_settled_under_a_superseded_narrative(answered):
    factories.narrative(answered.pair, text="Only fences count.", version=2)

    with pytest.raises(Stale, match="The narrative changed"):
        settle(answered)


def test_adopting_takes_the_answer_and_the_words_of_all_who_gave_it(answered):
    also = factories.judgment(answered.narrative, answered.first, answered.dan, 1, note="Inland.")
    Verdict.objects.create(statement=also, condition=answered.condition, answer="not_met")

    made = adopt_verdict(verdict=answered.no, cause="edge", by=answered.carla)

    assert (made.answer, made.reason) == ("not_met", "As 2 of them said: On a river. / Inland.")


def test_superseded_verdict_is_not_adopted(answered):
    Judgment.objects.filter(pk=answered.adas.pk).update(ended_at=NOON)
    verdict = Verdict.objects.select_related("statement").get(pk=answered.no.pk)

    with pytest.raises(Stale, match="This answer has changed since"):
        adopt_verdict(verdict=verdict, cause="edge", by=answered.carla)


def test_withdrawal_records_who_and_when_and_can_be_repeated(answered):
    made = settle(answered)

    first = withdraw_adjudication(adjudication=made, by=answered.carla, now=NOON)
    again = withdraw_adjudication(adjudication=made, by=answered.carla)

    assert (first.withdrawn_by, first.withdrawn_at) == (answered.carla, NOON)
    assert again.withdrawn_at == NOON
    assert settle(answered, answer="cant_tell").pk != made.pk


def test_database_allows_one_current_decision(answered):
    made = settle(answered)

    with pytest.raises(IntegrityError), transaction.atomic():
        ConditionAdjudication.objects.create(
            narrative=made.narrative,
            condition=made.condition,
            candidate=made.candidate,
            answer="not_met",
            reason="Other.",
            cause="edge",
            by=answered.carla,
        )
