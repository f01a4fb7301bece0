"""Adjudications, reviews, decisions and checks from pages and files have hash chains, which detect
changes made in any other way.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from annotate.models import Adjudication, Candidate, ConditionAdjudication, Verdict
from audit.checks import actions as checks
from audit.models import Check, Decision, Rating, Review
from audit.reviews import actions as audit
from audit.reviews.decisions import decide, withdraw_decision
from audit.settling import adjudication, settle_many
from audit.settling.queue_filters import QueueFilter
from audit.settling.settle_many import Rule, RuleChoice
from keeping.verify import verify
from tests import factories
from tests.checks.checking import check_label, claimed_scene, draw
from tests.collection.arriving import jsonl, load
from tests.second_pass import levels, make_scene
from tests.test_audit_log_of_actions import Story, storage

pytestmark = pytest.mark.both_databases

__all__ = ["storage"]

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
WHY: dict[str, Any] = {"cause": "edge", "reason": "Agreed."}


@pytest.fixture
def scene(db):
    return make_scene()


@pytest.fixture
def story(db, storage, published) -> Story:
    return Story()


def faults(project) -> list[tuple[str, str]]:
    return [(one.what, one.sentence) for one in verify(project).faults]


def settle(story, number: int = 0, **more):
    return adjudication.adjudicate(
        narrative=story.narrative,
        candidate=story.candidates[number],
        relevance=1,
        by=story.carla,
        **WHY,
        **more,
    )


def test_settlements_and_withdrawals_at_the_same_time_are_in_order(story):
    for _ in range(3):
        made = settle(story, now=NOON)
        adjudication.withdraw_adjudication(adjudication=made, by=story.carla, now=NOON)
    settle(story, now=NOON)

    found = verify(story.project)

    assert found.faults == []
    assert found.rows["adjudication"] == 4


@pytest.mark.parametrize(
    ("change", "what", "sentence"),
    [
        ({"relevance": 2}, "changed", "was changed after it was recorded"),
        ({"reason": "Another."}, "changed", "was changed after it was recorded"),
        ({"withdrawn_at": NOON}, "stands", "was ended, but not by an action"),
    ],
)
def test_a_changed_settlement_is_detected(story, change, what, sentence):
    settle(story)
    if "withdrawn_at" in change:
        change = {**change, "withdrawn_by": story.carla}

    Adjudication.objects.update(**change)

    named = "how A (301, altered 1) was settled"
    assert faults(story.project) == [(what, f"{named} {sentence}")]


def test_a_changed_settlement_of_a_condition_is_detected(story):
    made = adjudication.settle_condition(
        condition=story.condition,
        candidate=story.candidates[0],
        answer="met",
        by=story.carla,
        **WHY,
    )
    adjudication.withdraw_adjudication(adjudication=made, by=story.carla)
    assert faults(story.project) == []

    ConditionAdjudication.objects.update(answer=Verdict.Answer.NOT_MET)

    assert [what for what, _ in faults(story.project)] == ["changed"]


@pytest.mark.parametrize("exchanged", ["narrative", "condition"])
def test_a_settled_condition_of_another_narrative_is_detected(story, exchanged):
    adjudication.settle_condition(
        condition=story.condition,
        candidate=story.candidates[0],
        answer="met",
        by=story.carla,
        **WHY,
    )
    original = story.pair.narratives.get(side="original")
    same_number = original.conditions.create(number=story.condition.number, text="On a river.")
    other = {"narrative": original, "condition": same_number}

    ConditionAdjudication.objects.update(**{exchanged: other[exchanged]})

    assert [what for what, _ in faults(story.project)] == ["changed"]


def test_loaded_adjudications_are_in_the_chain_and_loading_again_adds_nothing(story):
    settle(story)
    lines = jsonl(
        {
            "type": "adjudication",
            "query_id": "301",
            "doc_id": "A",
            "relevance": 2,
            "reason": "Later.",
            "cause": "edge",
            "by": "carla",
            "at": (timezone.now() + timedelta(hours=1)).isoformat(),
        },
        {
            "type": "adjudication",
            "query_id": "301",
            "doc_id": "B",
            "relevance": 0,
            "reason": "Old.",
            "cause": "edge",
            "by": "gus",
        },
    )
    for _ in range(2):
        report = load(story.project, "judgments-jsonl", lines)
        assert report.refused == 0, report.problems
        assert faults(story.project) == []
    assert Adjudication.objects.count() == 3

    Adjudication.objects.get(reason="Old.").delete()
    assert [what for what, _ in faults(story.project)] == ["gone"]


def test_a_changed_review_is_detected(story):
    assert verify(story.project).rows["review"] == 2
    assert faults(story.project) == []

    review = Review.objects.get(auditor=story.dan)
    Rating.objects.filter(review=review, criterion="semantic_consistency").update(words="Hm.")

    assert faults(story.project) == [
        ("changed", "the review of 301, altered 1, by dan was changed after it was recorded")
    ]


@pytest.mark.parametrize("change", [{"rejects": True}, {"place": 7}])
def test_a_changed_effect_of_a_rating_is_detected(story, change):
    review = Review.objects.get(auditor=story.dan)

    review.ratings.filter(criterion="semantic_consistency").update(**change)

    assert faults(story.project) == [
        ("changed", "the review of 301, altered 1, by dan was changed after it was recorded")
    ]


def test_a_pair_moved_to_another_query_is_detected(story):
    settle(story)
    decide(narrative=story.narrative, outcome="accepted", by=story.carla)

    story.pair.query = factories.query(story.project, "302")
    story.pair.save()

    found = verify(story.project)
    assert {fault.what for fault in found.faults} == {"changed"}
    moved = Counter(fault.kind for fault in found.faults)
    assert moved == {"judgment": 6, "adjudication": 1, "review": 2, "decision": 1}


def test_a_document_moved_to_another_query_is_detected(story):
    settle(story)

    other = factories.query(story.project, "302")
    Candidate.objects.filter(pk=story.candidates[0].pk).update(query=other)

    found = verify(story.project)
    assert {fault.what for fault in found.faults} == {"changed"}
    assert Counter(fault.kind for fault in found.faults) == {"judgment": 2, "adjudication": 1}


def test_a_draft_of_a_review_is_not_in_the_chain(db, assigned):
    audit.save_ratings(narrative=assigned.narrative, answers=levels(), by=assigned.dan)

    assert faults(assigned.project) == []
    assert verify(assigned.project).rows["review"] == 0


def test_a_changed_decision_is_detected(story):
    made = decide(narrative=story.narrative, outcome="accepted", by=story.carla)
    withdraw_decision(decision=made, by=story.carla)
    decide(narrative=story.narrative, outcome="accepted", by=story.carla)
    assert faults(story.project) == []

    Decision.objects.filter(withdrawn_at=None).update(reason="Another.")

    assert faults(story.project) == [
        ("changed", "the decision on 301, altered 1 was changed after it was recorded")
    ]


def test_checks_and_settlements_are_in_order_and_a_changed_one_is_detected(db):
    scene = claimed_scene()
    sample = draw(scene)
    check_label(sample, "A", ada=1, ben=0, dan=2)
    item = sample.items.get(candidate=scene.candidates["B"])
    checks.check(item=item, by=scene.ada, relevance=1)
    checks.check(item=item, by=scene.ada, relevance=0)
    checks.withdraw_check(item=item, by=scene.ada)
    sums = verify(scene.project)
    assert [one for one in sums.faults if one.kind == "check"] == []
    assert sums.rows["check"] == 5

    Check.objects.filter(checker=scene.dan).update(relevance=1)

    named = "the check of A (301) in “Spot checks” by dan"
    found = [one.sentence for one in verify(scene.project).faults if one.kind == "check"]
    assert found == [f"{named} was changed after it was recorded"]


@pytest.mark.parametrize(
    "change",
    [
        {"claimed": 2},
        {"claimed_topic": True},
        {"claimed_constraint": True},
        {"reason": "Another."},
        {"stratum": "Another"},
    ],
)
def test_a_changed_claim_of_a_checked_label_is_detected(db, change):
    scene = claimed_scene()
    sample = draw(scene)
    check_label(sample, "A", ada=1)

    sample.items.update(**change)

    found = [
        (one.what, one.sentence) for one in verify(scene.project).faults if one.kind == "check"
    ]
    named = "the check of A (301) in “Spot checks” by ada"
    assert found == [("changed", f"{named} was changed after it was recorded")]


def test_loaded_reviews_and_decisions_are_in_the_chain(db, scene):
    lines = jsonl(
        {
            "type": "review",
            "pair_id": "301",
            "query_id": "301",
            "side": "altered",
            "version": 1,
            "auditor": "dan",
            "rubric": "followtable-1",
            "at": "2026-03-02T12:00:00Z",
            "started_at": "2026-03-02T11:00:00Z",
            "ratings": [
                {"criterion": key, "level": level, "words": words}
                for key, (level, words) in levels().items()
            ],
        },
        {
            "type": "decision",
            "pair_id": "301",
            "query_id": "301",
            "side": "altered",
            "version": 1,
            "outcome": "accepted",
            "by": "carla",
            "at": "2026-03-02T12:00:00Z",
        },
    )
    for _ in range(2):
        report = load(scene.project, "judgments-jsonl", lines)
        assert report.refused == 0, report.problems
    found = verify(scene.project)

    assert found.faults == []
    assert (found.rows["review"], found.rows["decision"]) == (1, 1)


def test_a_settled_and_withdrawn_batch_is_in_order(story):
    choice = RuleChoice(Rule.GRADE, grade=1)
    shown = settle_many.preview(story.carla, QueueFilter(), choice)
    assert shown.total == len(story.candidates)
    how: dict[str, Any] = {"choice": choice, "token": shown.token, **WHY}
    batch = settle_many.settle_many(filters=QueueFilter(), by=story.carla, **how)
    assert faults(story.project) == []
    settle_many.withdraw_batch(batch=batch, by=story.carla)

    assert faults(story.project) == []
    assert verify(story.project).rows["adjudication"] == 3
