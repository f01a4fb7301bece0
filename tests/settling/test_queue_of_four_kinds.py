"""The queue of a project with a disagreement of each kind: filters, counts, order and pages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from annotate.judgments import assignments
from annotate.models import Assignment, Candidate, Condition, Verdict
from audit.checks import actions as checking
from audit.models import Sample, SampleItem
from audit.settling.queue import count_by_kind, is_open, keys_after, read_page
from audit.settling.queue_filters import DisagreementKey, Kind, Order, QueueFilter
from tests import factories
from tests.second_pass import submit_levels

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
        submit_levels(scene.narrative, member, **others)


@pytest.fixture(scope="module")
def scene_of_file(scene_of_file):
    """One disagreement of each kind: judgment, verdict, review, check."""
    scene = scene_of_file
    candidate = factories.candidate(scene.query, "judged")
    for member, relevance in ((scene.ada, 0), (scene.ben, 1)):
        factories.judgment(scene.narrative, candidate, member, relevance, at=MONDAY)
    scene.condition = make_condition(scene, name="place")
    answer(scene, scene.condition, "answered", "met", "not_met", at=MONDAY + timedelta(days=1))
    reviewed(scene, dan={"query_dependency": "poor"}, ben={})
    checked(scene, "checked", 0, 1)
    return scene


def test_four_kinds_are_listed_together_and_counted(scene):
    found = read_page(scene.carla, QueueFilter())

    assert sorted(listed(scene)) == ["answered 1", "checked", "judged", "review"]
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
def test_filter_keeps_matching_disagreements(scene, wanted, shown):
    assert sorted(listed(scene, **wanted)) == shown


def test_only_ticked_disagreements_are_listed(scene):
    keys = {item.key.kind: item.key for item in read_page(scene.carla, QueueFilter()).items}

    assert listed(scene, only=(keys[Kind.JUDGMENT],)) == ["judged"]
    assert sorted(listed(scene, only=tuple(keys.values()))) == [
        "answered 1",
        "checked",
        "judged",
        "review",
    ]


def test_other_kinds_are_counted_when_one_kind_is_listed(scene):
    found = read_page(scene.carla, QueueFilter(kind=Kind.CHECK))

    assert (found.total, found.counts) == (1, dict.fromkeys(Kind, 1))


def test_filter_by_two_people_covers_every_kind(scene):
    between = (scene.ada.pk, scene.ben.pk)

    assert sorted(listed(scene, people=between)) == ["answered 1", "checked", "judged"]
    assert listed(scene, people=(scene.dan.pk, scene.ben.pk)) == ["review"]


def test_counts_are_those_of_the_filter(scene):
    other = factories.query(scene.project, "302")

    assert count_by_kind(scene.carla, QueueFilter(query=other.pk)) == dict.fromkeys(Kind, 0)
    assert count_by_kind(scene.carla, QueueFilter(query=scene.query.pk)) == dict.fromkeys(Kind, 1)


@pytest.mark.parametrize("order", list(Order))
def test_next_disagreement_walks_through_all_kinds(scene, order):
    wanted = QueueFilter(order=order)
    keys = [item.key for item in read_page(scene.carla, wanted).items]

    walked = [keys[0]]
    while (onward := keys_after(scene.carla, wanted, walked[-1], 1)[0]) != keys[0]:
        walked.append(onward)

    assert walked == keys


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("order", list(Order))
def test_pages_of_four_kinds_have_no_gap_and_no_repeat(scene, order, size):
    checked(scene, "also checked", 0, 2)
    answer(scene, scene.condition, "also answered", "met", "cant_tell")
    whole = [item.position for item in read_page(scene.carla, QueueFilter(order=order)).items]

    found, after = [], None
    while True:
        part = read_page(scene.carla, QueueFilter(order=order), after=after, size=size)
        found += [item.position for item in part.items]
        if (after := part.after) is None:
            break

    assert len(whole) == 6
    assert found == whole


@pytest.mark.parametrize("order", list(Order))
def test_next_among_equal_disagreements_follows_the_list(scene, order):
    for number in range(3):
        checked(scene, f"C{number}", 0, 1)
        answer(scene, scene.condition, f"V{number}", "met", "not_met")
    wanted = QueueFilter(order=order)
    keys = [item.key for item in read_page(scene.carla, wanted).items]

    following = [keys_after(scene.carla, wanted, key, 1)[0] for key in keys]
    assert following == [*keys[1:], keys[0]]


def test_settled_disagreement_is_not_open(scene):
    item = SampleItem.objects.get()
    disagreement_key = DisagreementKey(Kind.CHECK, item.narrative_id, item.candidate_id, item.pk)
    assert is_open(scene.carla, disagreement_key)

    checking.settle(item=item, relevance=1, by=scene.dan)

    assert not is_open(scene.carla, disagreement_key)


@pytest.mark.parametrize(
    "wanted", [QueueFilter(), QueueFilter(settled=True), QueueFilter(kind=Kind.CHECK)]
)
def test_the_queue_of_four_kinds_costs_the_same_however_long(
    scene, django_assert_max_num_queries, wanted
):
    for number in range(10):
        checked(scene, f"C{number}", 0, 2)
        answer(scene, scene.condition, f"V{number}", "met", "cant_tell")

    with django_assert_max_num_queries(28) as queries:
        read_page(scene.carla, wanted)

    assert not any("documenttext" in query["sql"] for query in queries.captured_queries)
