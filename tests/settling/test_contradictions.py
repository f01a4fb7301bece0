"""Warnings beside a decision about answers that contradict a rule of the project."""

from __future__ import annotations

import pytest
from django.db.models import CharField
from django.db.models.functions import Cast
from django.urls import reverse

from annotate.models import Condition, ConditionAdjudication, Verdict
from audit.settling.adjudication import adjudicate, settle_condition, withdraw_adjudication


@pytest.fixture
def led(disputed, client):
    """The scene, seen by carla, with a condition on which ada and ben differ."""
    disputed.condition = Condition.objects.create(
        narrative=disputed.narrative, number=1, text="In the sea."
    )
    for judgment, answer in ((disputed.adas, "not_met"), (disputed.bens, "met")):
        Verdict.objects.create(statement=judgment, condition=disputed.condition, answer=answer)
    disputed.judged = reverse("audit:disagreement", args=[disputed.narrative.pk, disputed.first.pk])
    disputed.answered = reverse(
        "audit:verdict_disagreement", args=[disputed.condition.pk, disputed.first.pk]
    )
    client.force_login(disputed.carla.user)
    return disputed


@pytest.mark.parametrize(
    ("kind", "rule", "settled", "grades", "answers"),
    [
        ("own", "by_hand", "met", [], []),
        ("own", "all_met", "not_met", ["“1 1” or “2 2”: grade 0"], ["“Met”: grade 2"]),
        ("multi-infosearch", "by_hand", "met", ["“0 0”: all are met"], ["“Met”: all are met"]),
        ("multi-infosearch", "by_hand", "cant_tell", [], ["“Met”: all are met"]),
        ("followir", "by_hand", "met", ["“1 1” or “2 2”: not relevant before"], []),
    ],
)
def test_pages_warn_of_decisions_that_contradict_a_rule(
    led, client, kind, rule, settled, grades, answers
):
    type(led.project).objects.filter(pk=led.project.pk).update(kind=kind, condition_rule=rule)
    if kind == "followir":
        type(led.first).objects.filter(pk=led.first.pk).update(prior_relevance=0)
    led.project.grades.update(name=Cast("value", CharField()))

    settle_condition(
        condition=led.condition,
        candidate=led.first,
        answer=settled,
        reason="So.",
        cause="edge",
        by=led.carla,
    )
    on_grades = client.get(led.judged).context["contradictions"]
    withdraw_adjudication(adjudication=ConditionAdjudication.objects.get(), by=led.carla)
    adjudicate(
        narrative=led.narrative,
        candidate=led.first,
        relevance=0,
        reason="So.",
        cause="edge",
        by=led.carla,
    )
    on_answers = client.get(led.answered).context["contradictions"]

    assert [shorten(one) for one in on_grades] == grades
    assert [shorten(one) for one in on_answers] == answers
    # Once it is settled, the page warns only about the decision itself.
    assert all("“1 1”" not in one for one in client.get(led.judged).context["contradictions"])


def shorten(warning: str) -> str:
    """Shorten a warning to its choices and the words that identify the rule."""
    choices, rule = warning.rstrip(".").split(" contradicts a rule of the project: ")
    rule = rule.removeprefix("its conditions give this document the ")
    ends = {"all": "all are met", "relevant": "not relevant before"}
    return f"{choices}: {ends.get(rule.split()[-1], rule)}"
