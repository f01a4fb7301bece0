"""The queue of disagreements: its contents, order, filters, pages and number of queries."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from annotate.judgments import assignments
from annotate.judgments.consensus import State, consensus
from annotate.models import Assignment, Project
from annotate.rewriting import actions as rewriting
from audit.reviews.actions import save_ratings
from audit.reviews.decisions import decide
from audit.settling.adjudication import adjudicate, withdraw_adjudication
from audit.settling.queue import count_disagreements, keys_after, read_page
from audit.settling.queue_filters import DisagreementKey, Kind, Order, QueueFilter, QueuePosition
from tests import factories
from tests.second_pass import levels, submit_levels

pytestmark = pytest.mark.both_databases

MONDAY = datetime(2026, 11, 16, tzinfo=UTC)


def listed(scene, by=None, **wanted):
    return [
        item.candidate.document.doc_id if item.candidate else f"review of {item.narrative.pair}"
        for item in read_page(by or scene.carla, QueueFilter(**wanted)).items
    ]


def answers(scene, doc_id, *relevances, narrative=None, at=MONDAY, query=None):
    """Add one judgment each by ada, ben and dan (None: no judgment)."""
    candidate = factories.candidate(query or scene.query, doc_id)
    for member, relevance in zip((scene.ada, scene.ben, scene.dan), relevances, strict=False):
        if relevance is not None:
            factories.judgment(narrative or scene.narrative, candidate, member, relevance, at=at)
    return candidate


def review(scene, narrative, **by):
    """Submit reviews: name=levels that differ from excellent."""
    for name, others in by.items():
        member = getattr(scene, name)
        assignments.take(pair=narrative.pair, task=Assignment.Task.REVIEW, by=member)
        submit_levels(narrative, member, **others)


def key(scene, candidate=None):
    """Return the key of a document's judgments, or of the narrative's reviews."""
    kind = Kind.REVIEW if candidate is None else Kind.JUDGMENT
    return DisagreementKey(kind, scene.narrative.pk, candidate.pk if candidate else 0, 0)


def settle(scene, candidate, narrative=None):
    return adjudicate(
        narrative=narrative or scene.narrative,
        candidate=candidate,
        relevance=1,
        reason="So.",
        cause="edge",
        by=scene.carla,
    )


def test_only_disagreements_are_listed(disputed):
    assert listed(disputed) == ["S1"]
    assert count_disagreements(disputed.carla, QueueFilter()) == 1


def test_answers_of_machines_make_no_disagreement(scene):
    candidate = answers(scene, "S3", 0)
    factories.judgment(scene.narrative, candidate, factories.machine(scene.project), 2)

    assert listed(scene) == []


def test_superseded_and_withdrawn_judgments_do_not_count(disputed):
    disputed.bens.ended_at = disputed.bens.withdrawn_at = MONDAY
    disputed.bens.save()

    assert listed(disputed) == []


def test_judgments_under_an_older_version_are_not_listed(disputed):
    factories.narrative(disputed.pair, text="Only fences count.", version=2)

    assert listed(disputed) == []


def test_current_narratives_of_every_side_are_listed(scene):
    original = scene.pair.current("original")
    answers(scene, "S3", 0, 1, narrative=original)

    assert listed(scene) == ["S3"]


def test_a_removed_pair_is_not_listed(disputed):
    rewriting.remove(pair=disputed.pair, by=disputed.carla)

    assert listed(disputed) == []


def test_other_projects_are_not_listed(disputed):
    assert listed(disputed, by=disputed.eve) == []


@pytest.mark.parametrize("rule", Project.Consensus.values)
@pytest.mark.parametrize(
    "relevances", [(0, 0, 0), (0, 0, 1), (0, 1, 2), (1, 0, None), (1, None, None), (2, 2, 0)]
)
def test_list_agrees_with_the_consensus(scene, rule, relevances):
    Project.objects.update(consensus=rule)
    scene.carla.refresh_from_db()
    answers(scene, "S3", *relevances)
    grades = [relevance for relevance in relevances if relevance is not None]

    assert (listed(scene) == ["S3"]) == (consensus(grades, rule).state is State.DISPUTED)


def test_the_farthest_apart_come_first(scene):
    answers(scene, "near", 0, 1)
    answers(scene, "far", 0, 2)
    answers(scene, "near too", 1, 2)

    assert listed(scene) == ["far", "near", "near too"]


def test_the_oldest_come_first_when_asked(scene):
    answers(scene, "new", 0, 2, at=MONDAY + timedelta(days=2))
    answers(scene, "old", 0, 1, at=MONDAY)
    answers(scene, "middle", 0, 1, at=MONDAY + timedelta(days=1))

    assert listed(scene, order=Order.AGE) == ["old", "middle", "new"]


def test_list_can_be_filtered_by_query(disputed):
    query = factories.query(disputed.project, "302")
    answers(disputed, "S9", 0, 1, narrative=factories.altered(factories.pair(query)), query=query)

    assert listed(disputed, query=query.pk) == ["S9"]
    assert listed(disputed, query=disputed.query.pk) == ["S1"]


def test_list_can_be_filtered_by_two_people_who_differ(scene):
    answers(scene, "ada and ben", 0, 1)
    answers(scene, "ada and dan", 0, None, 1)
    answers(scene, "dan against both", 0, 0, 1)

    assert listed(scene, people=(scene.ada.pk, scene.ben.pk)) == ["ada and ben"]
    assert listed(scene, people=(scene.dan.pk, scene.ada.pk)) == ["ada and dan", "dan against both"]


def test_settling_and_withdrawing_move_a_disagreement_between_lists(disputed):
    made = settle(disputed, disputed.first)

    assert (listed(disputed), listed(disputed, settled=True)) == ([], ["S1"])
    assert read_page(disputed.carla, QueueFilter(settled=True)).items[0].settled == made

    withdraw_adjudication(adjudication=made, by=disputed.carla)

    assert (listed(disputed), listed(disputed, settled=True)) == (["S1"], [])


def test_list_shows_each_persons_answer(disputed):
    (item,) = read_page(disputed.carla, QueueFilter()).items

    assert {voice.relevance for voice in item.voices} == {0, 2}
    assert (item.distance, item.narrative) == (2, disputed.narrative)


def test_reviews_that_straddle_poor_are_listed(scene):
    review(scene, scene.narrative, dan={"query_dependency": "poor"}, ben={})

    (item,) = read_page(scene.carla, QueueFilter()).items

    assert (item.key.kind, item.position.distance, item.candidate) == (Kind.REVIEW, 2, None)
    assert {voice.rejects for voice in item.voices} == {0, 1}


@pytest.mark.parametrize(
    ("dan", "ben", "distance"),
    [
        ({"query_dependency": "poor"}, {"query_dependency": "acceptable"}, 1),
        ({"query_dependency": "poor"}, {"query_dependency": "poor"}, None),
        ({"query_dependency": "acceptable"}, {}, None),
        ({"query_dependency": "poor"}, {"semantic_expansion": "poor"}, 2),
    ],
)
def test_reviews_differ_only_where_one_is_poor_and_another_is_not(scene, dan, ben, distance):
    review(scene, scene.narrative, dan=dan, ben=ben)

    distances = [item.distance for item in read_page(scene.carla, QueueFilter()).items]
    assert distances == ([] if distance is None else [distance])
    assert count_disagreements(scene.carla, QueueFilter()) == (0 if distance is None else 1)


def test_a_draft_does_not_differ(scene):
    review(scene, scene.narrative, dan={"query_dependency": "poor"})
    assignments.take(pair=scene.pair, task=Assignment.Task.REVIEW, by=scene.ben)
    save_ratings(narrative=scene.narrative, answers=levels(), by=scene.ben)

    assert listed(scene) == []


def test_decided_reviews_are_settled(scene):
    review(scene, scene.narrative, dan={"query_dependency": "poor"}, ben={})
    made = decide(
        narrative=scene.narrative, outcome="revise", reason="It repeats it.", by=scene.carla
    )

    assert listed(scene) == []
    assert read_page(scene.carla, QueueFilter(settled=True)).items[0].settled == made


def test_reviews_can_be_filtered_by_two_people(scene):
    Project.objects.update(overlap_review=3)
    scene.pair.project.refresh_from_db()
    for member in (scene.ada, scene.ben, scene.dan):
        member.project.refresh_from_db()
    review(scene, scene.narrative, dan={"query_dependency": "poor"}, ben={}, ada={})

    assert count_disagreements(scene.carla, QueueFilter(people=(scene.dan.pk, scene.ben.pk))) == 1
    assert count_disagreements(scene.carla, QueueFilter(people=(scene.ada.pk, scene.ben.pk))) == 0


def test_judgments_and_reviews_share_a_list_and_can_be_filtered(disputed):
    review(disputed, disputed.narrative, dan={"query_dependency": "poor"}, ben={})
    answers(disputed, "S3", 0, 1)

    assert listed(disputed) == ["S1", "review of 301", "S3"]
    assert listed(disputed, kind=Kind.JUDGMENT) == ["S1", "S3"]
    assert listed(disputed, kind=Kind.REVIEW) == ["review of 301"]


@pytest.mark.parametrize(
    "wanted", [QueueFilter(), QueueFilter(order=Order.AGE), QueueFilter(settled=True)]
)
def test_pages_follow_each_other_without_gap_or_repeat(disputed, wanted):
    review(disputed, disputed.narrative, dan={"query_dependency": "poor"}, ben={})
    for number in range(7):
        answers(disputed, f"N{number}", 0, 1 + number % 2, at=MONDAY + timedelta(number % 3))
    other = factories.query(disputed.project, "302")
    narrative = factories.altered(factories.pair(other))
    for number in range(3):
        answers(disputed, f"O{number}", 0, 1, narrative=narrative, query=other)
    if wanted.settled:
        for item in read_page(disputed.carla, QueueFilter(kind=Kind.JUDGMENT)).items:
            settle(disputed, item.candidate, item.narrative)
        decide(narrative=disputed.narrative, outcome="revise", reason="So.", by=disputed.carla)
    whole = [item.position for item in read_page(disputed.carla, wanted).items]

    walked, after = [], None
    while True:
        part = read_page(disputed.carla, wanted, after=after, size=3)
        walked += [item.position for item in part.items]
        after = part.after
        if after is None:
            break

    assert len(whole) == 12
    assert walked == whole


def test_next_one_follows_the_settled_one_and_wraps_around(scene):
    first, second, third = (answers(scene, name, 0, 1) for name in ("a", "b", "c"))
    keys = [key(scene, one) for one in (first, second, third)]
    settle(scene, second)

    assert keys_after(scene.carla, QueueFilter(), keys[1], 1) == [keys[2]]
    assert keys_after(scene.carla, QueueFilter(), keys[2], 1) == [keys[0]]
    settle(scene, third)
    assert keys_after(scene.carla, QueueFilter(), keys[0], 1) == []


def test_position_round_trips_through_the_address():
    place = QueuePosition(1, 2, MONDAY, DisagreementKey(Kind.CHECK, 17, 4, 9))

    assert QueuePosition.parse(str(place)) == place


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1~2",
        "0~x~2026-11-16T00:00:00+00:00~review-1-0-0",
        "0~2~2026-11-16T00:00:00~review-1-0-0",
        "0~2~0001-01-01T00:00:00+14:00~review-1-0-0",
        "0~2~2026-11-16T00:00:00+00:00~quarrel-1-0-0",
        "0~9223372036854775808~2026-11-16T00:00:00+00:00~review-1-0-0",
        "0~2~2026-11-16T00:00:00+00:00~review--1-0-0",
        "0~2~2026-11-16T00:00:00+00:00~review-1-0",
    ],
)
def test_invalid_position_is_refused(text):
    with pytest.raises(ValueError):
        QueuePosition.parse(text)


def test_a_lead_in_a_judge_assignment_sees_what_they_have_judged(disputed):
    Project.objects.update(overlap_judge=3)
    disputed.carla.refresh_from_db()
    factories.assignment(disputed.pair, disputed.carla)
    assert listed(disputed) == []

    factories.judgment(disputed.narrative, disputed.first, disputed.carla, 1)

    assert listed(disputed) == ["S1"]


def test_a_lead_in_a_review_assignment_sees_reviews_after_their_own(scene):
    Project.objects.update(overlap_review=3)
    for member in (scene.carla, scene.ben, scene.dan):
        member.project.refresh_from_db()
    review(scene, scene.narrative, dan={"query_dependency": "poor"}, ben={})
    factories.assignment(scene.pair, scene.carla, Assignment.Task.REVIEW)
    assert listed(scene) == []

    submit_levels(scene.narrative, scene.carla)

    assert listed(scene) == ["review of 301"]


@pytest.mark.parametrize("many", [1, 20])
def test_the_list_costs_the_same_however_long(disputed, django_assert_num_queries, many):
    for number in range(many):
        answers(disputed, f"N{number}", 0, 1)
    review(disputed, disputed.narrative, dan={"query_dependency": "poor"}, ben={})

    with django_assert_num_queries(20) as queries:
        read_page(disputed.carla, QueueFilter())

    assert not any("documenttext" in query["sql"] for query in queries.captured_queries)
