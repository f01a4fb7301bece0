"""Verdicts, reviews and checks that differ are in the queue of disagreements, until settled."""

from __future__ import annotations

import pytest

from annotate.judgments.consensus import State, consensus
from annotate.models import Candidate, Condition, Project, Verdict
from annotate.rewriting.actions import remove
from audit.checks import actions as checking
from audit.reviews.decisions import decide
from audit.settling.adjudication import adjudicate, settle_condition
from audit.settling.queue import count_by_kind, read_page
from audit.settling.queue_filters import Kind, Order, QueueFilter
from formats.records import ANSWERS
from tests import factories
from tests.settling.test_queue_of_four_kinds import (
    MONDAY,
    answer,
    checked,
    listed,
    make_condition,
    reviewed,
)

pytestmark = pytest.mark.both_databases


def test_differing_verdicts_are_listed_even_if_grades_agree(scene):
    first, second = make_condition(scene, 1), make_condition(scene, 2)
    answer(scene, first, "S3", "met", "not_met")
    answer(scene, second, "S3", "met", "met")

    (item,) = read_page(scene.carla, QueueFilter()).items

    assert (item.key.kind, item.condition, item.distance) == (Kind.VERDICT, first, 2)
    assert {voice.answer for voice in item.voices} == {"met", "not_met"}


def test_cannot_tell_is_between_met_and_not_met(scene):
    condition = make_condition(scene)
    answer(scene, condition, "near", "met", "cant_tell")
    answer(scene, condition, "far", "met", "not_met")

    assert listed(scene) == ["far 1", "near 1"]


@pytest.mark.parametrize("rule", Project.Consensus.values)
@pytest.mark.parametrize(
    "answers",
    [
        ("met", "met", "met"),
        ("met", "met", "not_met"),
        ("met", "not_met", "cant_tell"),
        ("met", "not_met"),
        ("met",),
    ],
)
def test_listed_conditions_are_those_that_exports_call_disputed(scene, rule, answers):
    Project.objects.update(consensus=rule)
    scene.carla.project.refresh_from_db()
    answer(scene, make_condition(scene), "S3", *answers)
    outcome = consensus([ANSWERS.index(one) for one in answers], rule)

    assert (listed(scene) == ["S3 1"]) == (outcome.state is State.DISPUTED)


def test_verdicts_of_machines_make_no_disagreement(scene):
    condition = make_condition(scene)
    candidate = answer(scene, condition, "S3", "met")
    judgment = factories.judgment(scene.narrative, candidate, factories.machine(scene.project), 1)
    Verdict.objects.create(statement=judgment, condition=condition, answer="not_met")

    assert listed(scene) == []


def test_a_settled_condition_moves_to_the_settled_ones(scene):
    condition = make_condition(scene)
    candidate = answer(scene, condition, "S3", "met", "not_met")
    made = settle_condition(
        condition=condition, candidate=candidate, answer="met", reason="So.", cause="edge",
        by=scene.carla,
    )  # fmt: skip

    assert (listed(scene), listed(scene, settled=True)) == ([], ["S3 1"])
    assert read_page(scene.carla, QueueFilter(settled=True)).items[0].settled == made


def test_a_lead_in_a_judge_assignment_sees_verdicts_once_they_have_judged(scene):
    Project.objects.update(overlap_judge=3)
    scene.carla.project.refresh_from_db()
    candidate = answer(scene, make_condition(scene), "S3", "met", "not_met")
    factories.assignment(scene.pair, scene.carla)
    assert listed(scene) == []

    judgment = factories.judgment(scene.narrative, candidate, scene.carla, 1)
    Verdict.objects.create(statement=judgment, condition=Condition.objects.get(), answer="met")

    assert listed(scene) == ["S3 1"]


def test_a_check_is_listed_once_two_differ(scene):
    checked(scene, "alone", 0, None)
    checked(scene, "agreed", 1, 1)
    item = checked(scene, "apart", 0, 2)

    (found,) = read_page(scene.carla, QueueFilter()).items

    assert (found.key.kind, found.sample, found.distance) == (Kind.CHECK, item, 2)
    assert {voice.relevance for voice in found.voices} == {0, 2}


def test_a_lead_who_checked_it_does_not_settle_it(scene):
    item = checked(scene, "apart", 0, None)
    checking.check(item=item, relevance=2, by=scene.carla)

    assert listed(scene) == []


def test_a_check_that_a_third_settled_is_settled(scene):
    item = checked(scene, "apart", 0, 2)
    made = checking.settle(item=item, relevance=1, by=scene.carla)

    assert (listed(scene), listed(scene, settled=True)) == ([], ["apart"])
    assert read_page(scene.carla, QueueFilter(settled=True)).items[0].settled == made


def test_review_settled_by_removing_the_instruction_is_listed_as_settled(scene):
    reviewed(scene, dan={"query_dependency": "poor"}, ben={})
    removed = decide(
        narrative=scene.narrative, outcome="removed", reason="No query.", by=scene.carla
    )

    assert (listed(scene), listed(scene, settled=True)) == ([], ["review"])
    assert read_page(scene.carla, QueueFilter(settled=True)).items[0].settled == removed


def test_settled_ones_are_filtered_by_grades_cause_and_whether_they_decide(scene):
    for doc_id, grades, cause in (("near", (1, 2), "edge"), ("far", (0, 2), "error")):
        candidate = factories.candidate(scene.query, doc_id)
        for member, relevance in zip((scene.ada, scene.ben), grades, strict=True):
            factories.judgment(scene.narrative, candidate, member, relevance)
        adjudicate(
            narrative=scene.narrative,
            candidate=candidate,
            relevance=2,
            cause=cause,
            reason="Read it.",
            by=scene.carla,
        )

    def settled(**wanted):
        return sorted(listed(scene, settled=True, **wanted))

    assert settled() == ["far", "near"]
    assert settled(grades=(1,)) == ["near"]
    assert settled(grades=(0, 2)) == ["far"]
    assert settled(cause="edge") == ["near"]
    assert settled(decides=True) == ["far"]


def test_order_by_effect_puts_instructions_and_relevant_documents_first(scene):
    for doc_id, prior, relevances in (
        ("new, straddles", 0, (0, 2)),
        ("was relevant, straddles", 1, (0, 1)),
        ("relevant either way", 1, (1, 2)),
    ):
        candidate = factories.candidate(scene.query, doc_id, prior)
        for member, relevance in zip((scene.ada, scene.ben), relevances, strict=True):
            factories.judgment(scene.narrative, candidate, member, relevance, at=MONDAY)
    reviewed(scene, dan={"query_dependency": "poor"}, ben={})
    answer(scene, make_condition(scene), "answered", "met", "not_met")

    assert listed(scene, order=Order.EFFECT) == [
        "review",
        "was relevant, straddles",
        "new, straddles",
        "answered 1",
        "relevant either way",
    ]
    decides = {
        item.candidate.document.doc_id: item.decides
        for item in read_page(scene.carla, QueueFilter(kind=Kind.JUDGMENT)).items
        if item.candidate
    }
    assert decides == {
        "was relevant, straddles": True,
        "new, straddles": True,
        "relevant either way": False,
    }


def test_effect_follows_the_threshold_of_relevance(scene):
    Project.objects.update(relevant_from=2)
    scene.carla.project.refresh_from_db()
    for doc_id, relevances in (("a", (0, 1)), ("b", (1, 2))):
        candidate = factories.candidate(scene.query, doc_id, 2)
        for member, relevance in zip((scene.ada, scene.ben), relevances, strict=True):
            factories.judgment(scene.narrative, candidate, member, relevance)

    assert listed(scene, order=Order.EFFECT) == ["b", "a"]


def test_labels_of_a_removed_instruction_are_not_listed(scene):
    checked(scene, "S3", 0, 2)
    remove(pair=scene.pair, by=scene.carla)

    assert listed(scene) == []
    assert count_by_kind(scene.carla, QueueFilter())[Kind.CHECK] == 0


def test_a_settled_condition_of_a_candidate_that_was_taken_out_is_not_listed(scene):
    condition = make_condition(scene)
    candidate = answer(scene, condition, "S3", "met", "not_met")
    why = {"reason": "So.", "cause": "edge", "by": scene.carla}
    settle_condition(condition=condition, candidate=candidate, answer="met", **why)
    Candidate.objects.update(removed_at=MONDAY, removed_by=scene.carla, removed_reason="Broken.")

    assert listed(scene, settled=True) == []
