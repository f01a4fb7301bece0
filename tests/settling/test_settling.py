"""Settling a document on which judges differ, with a reason and a cause."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from annotate.models import Adjudication, Judgment
from annotate.projects import actions as projects
from annotate.rewriting import actions as rewriting
from audit.settling.adjudication import adjudicate, adopt, withdraw_adjudication
from base.errors import Refused, Stale
from tests import factories

pytestmark = pytest.mark.both_databases

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def settle(scene, **changes):
    arguments = {
        "narrative": scene.narrative,
        "candidate": scene.first,
        "relevance": 1,
        "reason": "It stands at the mouth.",
        "cause": "edge",
        "by": scene.carla,
        "now": NOON,
        **changes,
    }
    return adjudicate(**arguments)


def test_settling_stores_a_decision_with_its_lead_time_and_reason(disputed):
    made = settle(disputed)

    assert (made.relevance, made.reason, made.cause) == (1, "It stands at the mouth.", "edge")
    assert (made.by, made.at, made.withdrawn_at) == (disputed.carla, NOON, None)


def test_settling_leaves_the_judgments_as_they_are(disputed):
    before = list(Judgment.objects.order_by("pk").values())

    settle(disputed)

    assert list(Judgment.objects.order_by("pk").values()) == before


def test_a_lead_who_judged_too_may_settle(disputed):
    factories.judgment(disputed.narrative, disputed.first, disputed.carla, 1)

    assert settle(disputed).by == disputed.carla


def test_the_same_decision_again_changes_nothing(disputed):
    first = settle(disputed)

    assert settle(disputed) == first
    assert Adjudication.objects.count() == 1


def test_another_decision_is_refused_while_one_is_current(disputed):
    settle(disputed)

    with pytest.raises(Refused, match="carla has settled this as 1"):
        settle(disputed, relevance=2)

    assert Adjudication.objects.get().relevance == 1


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"reason": " \n"}, "Give a reason"),
        ({"reason": "x" * 10_001}, "10,001 characters"),
        ({"cause": ""}, "choose one of the causes"),
        ({"cause": "weather"}, "choose one of the causes"),
        ({"relevance": 3}, "3 is not a grade of this project. Its grades are 0, 1, 2"),
    ],
)
def test_invalid_decision_is_refused(disputed, changes, sentence):
    with pytest.raises(Refused, match=sentence):
        settle(disputed, **changes)

    assert not Adjudication.objects.exists()


@pytest.mark.parametrize("who", ["ada", "dan", "eve"])
def test_only_leads_of_the_project_settle(disputed, who):
    with pytest.raises(Refused, match="Only leads"):
        settle(disputed, by=getattr(disputed, who))

    assert not Adjudication.objects.exists()


def test_there_is_nothing_to_settle_if_people_agree(disputed):
    with pytest.raises(Refused, match="Nobody disagrees"):
        settle(disputed, candidate=disputed.second)


def test_differing_machine_makes_nothing_to_settle(scene):
    factories.judgment(scene.narrative, scene.first, scene.ada, 0)
    factories.judgment(scene.narrative, scene.first, factories.machine(scene.project), 2)

    with pytest.raises(Refused, match="Nobody disagrees"):
        settle(scene)


def test_nothing_is_settled_under_a_superseded_narrative(disputed):
    factories.narrative(disputed.pair, text="Only plants in estuaries count.", version=2)

    with pytest.raises(Stale, match="The narrative changed"):
        settle(disputed)

    assert not Adjudication.objects.exists()


def test_nothing_is_settled_under_a_removed_instruction(disputed):
    rewriting.remove(pair=disputed.pair, by=disputed.carla)

    with pytest.raises(Refused, match="was removed"):
        settle(disputed)


def test_nothing_is_settled_in_an_archived_project(disputed):
    projects.archive(by=disputed.carla)
    disputed.carla.refresh_from_db()

    with pytest.raises(Refused, match="archived"):
        settle(disputed)


def test_adopting_an_answer_takes_its_grade_and_its_words(disputed):
    made = adopt(judgment=disputed.adas, cause="error", by=disputed.carla)

    assert (made.relevance, made.reason) == (0, "As one of them said: On a river.")


def test_adopting_an_answer_without_a_note_gives_a_short_reason(disputed):
    made = adopt(judgment=disputed.bens, cause="error", by=disputed.carla)

    assert (made.relevance, made.reason) == (2, "As one of them said.")


def test_reason_of_the_lead_replaces_the_adopted_note(disputed):
    made = adopt(judgment=disputed.adas, cause="error", reason="Read again.", by=disputed.carla)

    assert made.reason == "Read again."


def test_superseded_answer_is_not_adopted(disputed):
    Judgment.objects.filter(pk=disputed.adas.pk).update(ended_at=NOON)
    disputed.adas.refresh_from_db()

    with pytest.raises(Stale, match="This answer has changed since"):
        adopt(judgment=disputed.adas, cause="error", by=disputed.carla)

    assert not Adjudication.objects.exists()


def test_withdrawal_records_who_and_when_and_allows_another_decision(disputed):
    first = settle(disputed)

    taken_back = withdraw_adjudication(adjudication=first, by=disputed.carla, now=NOON)

    assert (taken_back.withdrawn_by, taken_back.withdrawn_at) == (disputed.carla, NOON)
    assert settle(disputed, relevance=2).relevance == 2
    assert Adjudication.objects.count() == 2


def test_withdrawing_twice_changes_nothing(disputed):
    first = settle(disputed)
    withdraw_adjudication(adjudication=first, by=disputed.carla, now=NOON)

    again = withdraw_adjudication(adjudication=first, by=disputed.carla)

    assert again.withdrawn_at == NOON


@pytest.mark.parametrize("who", ["ada", "eve"])
def test_only_leads_of_the_project_withdraw(disputed, who):
    made = settle(disputed)

    with pytest.raises(Refused, match="Only leads"):
        withdraw_adjudication(adjudication=made, by=getattr(disputed, who))

    assert Adjudication.objects.current().get() == made
