"""Verdicts and checks in the queue of disagreements, its filters, and the order by effect."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from annotate.judgments import assignments
from annotate.judgments.consensus import State, consensus
from annotate.models import Assignment, Candidate, Condition, Project, Verdict
from annotate.rewriting.actions import remove
from audit.checks import actions as checking
from audit.models import Sample, SampleItem
from audit.reviews.actions import save_ratings, submit_review
from audit.reviews.decisions import decide
from audit.settling.adjudication import adjudicate, settle_condition
from audit.settling.queue import count_by_kind, is_open, keys_after, read_page
from audit.settling.queue_filters import DisagreementKey, Kind, Order, QueueFilter
from formats.records import ANSWERS
from tests import factories
from tests.second_pass import levels

pytestmark = pytest.mark.both_databases

MONDAY = datetime(2026, 11, 16, tzinfo=UTC)


def listed(scene, **wanted):
    found = []
    for item in read_page(scene.carla, QueueFilter(**wanted)).items:
        what = item.candidate.document.doc_id if item.candidate else "review"
        found.append(f"{what} {item.condition.number}" if item.condition else what)
    return found


def make_condition(scene, number=1, name=""):
    return Condition.objects.create(
        narrative=scene.narrative, number=number, name=name, text="At sea."
    )


def answer(scene, condition, doc_id, *answers, at=MONDAY):
    """Add verdicts by ada, ben and dan on a condition; they agree on the relevance."""
    candidate = Candidate.objects.filter(query=scene.query, document__doc_id=doc_id).first()
    candidate = candidate or factories.candidate(scene.query, doc_id)
    for member, verdict in zip((scene.ada, scene.ben, scene.dan), answers, strict=False):
        judgment = candidate.statements.filter(annotator=member).first()
        judgment = judgment or factories.judgment(scene.narrative, candidate, member, 1, at=at)
        Verdict.objects.create(statement=judgment, condition=condition, answer=verdict)
    return candidate


def checked(scene, doc_id, ada, ben, claimed=1):
    """Return a label that ada and ben have checked (None: not checked)."""
    sample = Sample.objects.filter(project=scene.project).first() or Sample.objects.create(
        project=scene.project, name="Spot", source="prior", seed=1, size=1, created_by=scene.carla
    )
    item = SampleItem.objects.create(
        sample=sample,
        narrative=scene.narrative,
        candidate=factories.candidate(scene.query, doc_id),
        claimed=claimed,
    )
    for member, relevance in ((scene.ada, ada), (scene.ben, ben)):
        if relevance is not None:
            checking.check(item=item, relevance=relevance, by=member, now=MONDAY)
    return item


def reviewed(scene, **by):
    for name, others in by.items():
        member = getattr(scene, name)
        assignments.take(pair=scene.pair, task=Assignment.Task.REVIEW, by=member)
        save_ratings(narrative=scene.narrative, answers=levels(**others), by=member)
        submit_review(narrative=scene.narrative, by=member)


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


@pytest.fixture
def four(scene):
    """One disagreement of each kind: judgment, verdict, review, check."""
    candidate = factories.candidate(scene.query, "judged")
    for member, relevance in ((scene.ada, 0), (scene.ben, 1)):
        factories.judgment(scene.narrative, candidate, member, relevance, at=MONDAY)
    scene.condition = make_condition(scene, name="place")
    answer(scene, scene.condition, "answered", "met", "not_met", at=MONDAY + timedelta(days=1))
    reviewed(scene, dan={"query_dependency": "poor"}, ben={})
    checked(scene, "checked", 0, 1)
    return scene


def test_four_kinds_are_listed_together_and_counted(four):
    found = read_page(four.carla, QueueFilter())

    assert sorted(listed(four)) == ["answered 1", "checked", "judged", "review"]
    assert found.counts == dict.fromkeys(Kind, 1)
    assert found.total == 4


@pytest.mark.parametrize(
    ("wanted", "shown"),
    [
        ({"kind": Kind.JUDGMENT}, ["judged"]),
        ({"kind": Kind.VERDICT}, ["answered 1"]),
        ({"kind": Kind.REVIEW}, ["review"]),
        ({"kind": Kind.CHECK}, ["checked"]),
        ({"criterion": "query_dependency"}, ["review"]),
        ({"criterion": "semantic_expansion"}, []),
        ({"condition": "place"}, ["answered 1"]),
        ({"condition": "PLACE"}, ["answered 1"]),
        ({"condition": "1"}, ["answered 1"]),
        ({"condition": "2"}, []),
        ({"condition": "place", "criterion": "query_dependency"}, []),
        ({"document": "judged"}, ["judged"]),
        ({"document": "answered"}, ["answered 1"]),
        ({"document": "checked"}, ["checked"]),
        ({"document": "nowhere"}, []),
        ({"document": "judged", "kind": Kind.CHECK}, []),
        ({"grades": (0,)}, ["checked", "judged"]),
        ({"grades": (0, 1)}, ["checked", "judged"]),
        ({"grades": (0, 2)}, []),
        ({"decides": True}, ["judged", "review"]),
    ],
)
def test_filter_keeps_matching_disagreements(four, wanted, shown):
    assert sorted(listed(four, **wanted)) == shown


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


def test_only_ticked_disagreements_are_listed(four):
    keys = {
        item.key.kind: item.key.disagreement_key
        for item in read_page(four.carla, QueueFilter()).items
    }

    assert listed(four, only=(keys[Kind.JUDGMENT],)) == ["judged"]
    assert sorted(listed(four, only=tuple(keys.values()))) == [
        "answered 1",
        "checked",
        "judged",
        "review",
    ]


def test_other_kinds_are_counted_when_one_kind_is_listed(four):
    found = read_page(four.carla, QueueFilter(kind=Kind.CHECK))

    assert (found.total, found.counts) == (1, dict.fromkeys(Kind, 1))


def test_filter_by_two_people_covers_every_kind(four):
    between = (four.ada.pk, four.ben.pk)

    assert sorted(listed(four, people=between)) == ["answered 1", "checked", "judged"]
    assert listed(four, people=(four.dan.pk, four.ben.pk)) == ["review"]


def test_counts_are_those_of_the_filter(four):
    other = factories.query(four.project, "302")

    assert count_by_kind(four.carla, QueueFilter(query=other.pk)) == dict.fromkeys(Kind, 0)
    assert count_by_kind(four.carla, QueueFilter(query=four.query.pk)) == dict.fromkeys(Kind, 1)


@pytest.mark.parametrize("order", list(Order))
def test_next_disagreement_walks_through_all_kinds(four, order):
    wanted = QueueFilter(order=order)
    keys = [item.key.disagreement_key for item in read_page(four.carla, wanted).items]

    walked = [keys[0]]
    while (onward := keys_after(four.carla, wanted, walked[-1], 1)[0]) != keys[0]:
        walked.append(onward)

    assert walked == keys


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("order", list(Order))
def test_pages_of_four_kinds_have_no_gap_and_no_repeat(four, order, size):
    checked(four, "also checked", 0, 2)
    answer(four, four.condition, "also answered", "met", "cant_tell")
    whole = [item.key for item in read_page(four.carla, QueueFilter(order=order)).items]

    found, after = [], None
    while True:
        part = read_page(four.carla, QueueFilter(order=order), after=after, size=size)
        found += [item.key for item in part.items]
        if (after := part.after) is None:
            break

    assert len(whole) == 6
    assert found == whole


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


@pytest.mark.parametrize("order", list(Order))
def test_next_among_equal_disagreements_follows_the_list(four, order):
    for number in range(3):
        checked(four, f"C{number}", 0, 1)
        answer(four, four.condition, f"V{number}", "met", "not_met")
    wanted = QueueFilter(order=order)
    keys = [item.key.disagreement_key for item in read_page(four.carla, wanted).items]

    following = [keys_after(four.carla, wanted, key, 1)[0] for key in keys]
    assert following == [*keys[1:], keys[0]]


def test_settled_disagreement_is_not_open(four):
    item = SampleItem.objects.get()
    disagreement_key = DisagreementKey(Kind.CHECK, item.narrative_id, item.candidate_id, item.pk)
    assert is_open(four.carla, disagreement_key)

    checking.settle(item=item, relevance=1, by=four.dan)

    assert not is_open(four.carla, disagreement_key)


@pytest.mark.parametrize(
    "wanted", [QueueFilter(), QueueFilter(settled=True), QueueFilter(kind=Kind.CHECK)]
)
def test_the_queue_of_four_kinds_costs_the_same_however_long(
    four, django_assert_max_num_queries, wanted
):
    for number in range(10):
        checked(four, f"C{number}", 0, 2)
        answer(four, four.condition, f"V{number}", "met", "cant_tell")

    with django_assert_max_num_queries(28) as queries:
        read_page(four.carla, wanted)

    assert not any("documenttext" in query["sql"] for query in queries.captured_queries)


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
