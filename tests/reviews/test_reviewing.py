"""An auditor's review: a draft that keeps every answer, handed in once and for all."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from annotate.judgments import assignments
from annotate.models import Assignment
from annotate.projects import rules
from annotate.rewriting import actions as rewriting
from audit.models import Rating, Review
from audit.reviews.actions import (
    save_rating,
    save_ratings,
    start_review,
    submit_review,
    take_review,
)
from audit.reviews.criteria import FOLLOWTABLE
from audit.reviews.passes import pass_of, summary_digest
from base.errors import Refused, Stale, Unconfirmed
from tests import factories
from tests.second_pass import levels

pytestmark = pytest.mark.both_databases

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
ONE = datetime(2026, 11, 21, 13, tzinfo=UTC)
KEY = "semantic_expansion"


def fill(scene, by=None, **others):
    return save_ratings(
        narrative=scene.narrative, answers=levels(**others), by=by or scene.dan, now=NOON
    )


def seat_of(scene, member):
    return Assignment.objects.get(pair=scene.pair, member=member, task=Assignment.Task.REVIEW)


def next_pair(member):
    seat = take_review(by=member, become_blind=True)
    return seat and seat.pair


def test_a_review_begins_once_for_each_auditor_and_version(seated):
    first = start_review(narrative=seated.narrative, by=seated.dan, now=NOON)

    assert start_review(narrative=seated.narrative, by=seated.dan) == first
    assert (first.rubric, first.started_at, first.submitted_at) == (FOLLOWTABLE.name, NOON, None)
    assert start_review(narrative=seated.narrative, by=seated.ben) != first


def test_the_first_answer_begins_the_review_and_the_seat(seated):
    save_rating(
        narrative=seated.narrative, criterion=KEY, level="acceptable", by=seated.dan, now=NOON
    )

    assert Rating.objects.get().level == "acceptable"
    assert (seat_of(seated, seated.dan).touched_at, seat_of(seated, seated.dan).done_at) == (
        NOON,
        None,
    )


def test_answering_again_changes_the_answer(seated):
    for level in ("excellent", "poor"):
        save_rating(narrative=seated.narrative, criterion=KEY, level=level, by=seated.dan)

    assert Rating.objects.get().level == "poor"


def test_another_level_drops_the_words_that_explained_the_one_before(seated):
    save_rating(
        narrative=seated.narrative, criterion=KEY, level="poor", words="Vague.", by=seated.dan
    )

    save_rating(narrative=seated.narrative, criterion=KEY, level="excellent", by=seated.dan)

    assert (Rating.objects.get().level, Rating.objects.get().words) == ("excellent", "")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"level": "poor", "words": "Vague."}, {"level": "poor"}),
        ({"level": "poor", "words": "Old."}, {"level": "acceptable", "words": "Vague."}),
        ({"words": "Vague."}, {"level": "poor"}),
    ],
    ids=["the same level", "another level with its own words", "the first level"],
)
def test_words_stay_with(seated, before, after):
    for said in (before, after):
        save_rating(narrative=seated.narrative, criterion=KEY, by=seated.dan, **said)

    assert (Rating.objects.get().level, Rating.objects.get().words) == (after["level"], "Vague.")


def test_words_without_a_level_are_kept(seated):
    save_rating(narrative=seated.narrative, criterion=KEY, words="Hm", by=seated.dan)

    assert (Rating.objects.get().level, Rating.objects.get().words) == ("", "Hm")


def test_poor_without_words_is_kept_as_a_draft(seated):
    save_rating(narrative=seated.narrative, criterion=KEY, level="poor", by=seated.dan)

    assert Rating.objects.get().level == "poor"
    assert Review.objects.get().submitted_at is None


def test_emptied_words_are_gone(seated):
    save_rating(narrative=seated.narrative, criterion=KEY, words="Hm", by=seated.dan)

    save_rating(narrative=seated.narrative, criterion=KEY, words="", by=seated.dan)

    assert Rating.objects.get().words == ""


def test_what_was_not_answered_is_no_row(seated):
    answers = {**levels(), KEY: (None, "")}

    save_ratings(narrative=seated.narrative, answers=answers, by=seated.dan)

    assert Rating.objects.count() == 5


@pytest.mark.parametrize(
    ("answers", "sentence"),
    [
        ({"beauty": ("poor", "")}, "“beauty” is not one of the criteria"),
        ({KEY: ("great", "")}, "“great” is not a level"),
        ({KEY: ("", "")}, "“” is not a level"),
        ({KEY: ("poor", "x" * 10_001)}, "10,001 characters; at most 10,000"),
    ],
)
def test_what_is_no_answer_is_refused_and_nothing_of_it_is_kept(seated, answers, sentence):
    with pytest.raises(Refused, match=sentence):
        save_ratings(narrative=seated.narrative, answers={**levels(), **answers}, by=seated.dan)

    assert not Review.objects.exists()
    assert not Rating.objects.exists()


@pytest.mark.parametrize("who", ["ada", "carla", "eve"])
def test_who_has_no_seat_reviews_nothing(seated, who):
    with pytest.raises(Refused, match="not your task"):
        fill(seated, by=getattr(seated, who))

    assert not Review.objects.exists()


def test_nobody_reviews_their_own_words(seated):
    mine = rewriting.rewrite_narrative(
        pair=seated.pair, text="Only tidal fences count.", based_on=1, by=seated.carla
    )
    seat = seat_of(seated, seated.dan)
    Assignment.objects.filter(pk=seat.pk).update(member=seated.carla)

    with pytest.raises(Refused, match="You wrote this"):
        start_review(narrative=mine, by=seated.carla)

    assert not Review.objects.exists()


def test_the_original_narrative_is_not_reviewed(seated):
    original = seated.pair.current("original")

    with pytest.raises(Refused, match="Only the altered"):
        start_review(narrative=original, by=seated.dan)


def test_a_superseded_version_is_refused_and_the_draft_stays_with_it(seated):
    fill(seated)
    rewriting.rewrite_narrative(
        pair=seated.pair, text="Only tidal fences count.", based_on=1, by=seated.carla
    )

    with pytest.raises(Stale, match="changed while you were reading"):
        save_rating(narrative=seated.narrative, criterion=KEY, level="poor", by=seated.dan)
    with pytest.raises(Stale):
        submit_review(narrative=seated.narrative, by=seated.dan)

    assert Rating.objects.get(criterion=KEY).level == "excellent"
    assert Review.objects.get().submitted_at is None


def test_a_new_version_is_reviewed_afresh(seated):
    fill(seated)
    submit_review(narrative=seated.narrative, by=seated.dan)
    second = rewriting.rewrite_narrative(
        pair=seated.pair, text="Only tidal fences count.", based_on=1, by=seated.carla
    )

    save_rating(narrative=second, criterion=KEY, level="poor", by=seated.dan)

    assert Review.objects.filter(auditor=seated.dan).count() == 2


def test_submitting_needs_every_criterion(seated):
    save_rating(narrative=seated.narrative, criterion=KEY, level="excellent", by=seated.dan)

    with pytest.raises(
        Refused,
        match="Not rated yet: semantic consistency, query dependency, constraint abstraction, "
        "category-aware focus, internal consistency",
    ):
        submit_review(narrative=seated.narrative, by=seated.dan)

    assert Review.objects.get().submitted_at is None


def test_submitting_needs_words_for_what_is_poor(seated):
    fill(seated)
    save_rating(narrative=seated.narrative, criterion=KEY, level="poor", words=" ", by=seated.dan)

    with pytest.raises(Refused, match="Say in words why it fails on: semantic expansion"):
        submit_review(narrative=seated.narrative, by=seated.dan)

    assert Review.objects.get().submitted_at is None


def test_submitting_nothing_is_refused(seated):
    with pytest.raises(Refused, match="Nothing is rated yet"):
        submit_review(narrative=seated.narrative, by=seated.dan)


def test_submitting_ends_the_draft_and_the_seat(seated):
    fill(seated, semantic_expansion="poor")

    made = submit_review(narrative=seated.narrative, by=seated.dan, now=ONE)

    assert made.submitted_at == ONE
    assert seat_of(seated, seated.dan).done_at == ONE
    assert seat_of(seated, seated.ben).done_at is None


def digest_of(seated: Any) -> str:
    written = pass_of(seated.narrative, seated.dan)
    assert written is not None
    return summary_digest(written)


def test_a_review_is_not_submitted_without_the_summary_of_what_it_says_now(seated):
    fill(seated)
    shown = digest_of(seated)
    save_rating(narrative=seated.narrative, criterion=KEY, level="acceptable", by=seated.dan)

    for confirmed in ("", shown):
        with pytest.raises(Unconfirmed):
            submit_review(narrative=seated.narrative, by=seated.dan, confirmed=confirmed)
    assert Review.objects.get().submitted_at is None

    now = digest_of(seated)
    submit_review(narrative=seated.narrative, by=seated.dan, confirmed=now, now=ONE)
    assert Review.objects.get().submitted_at == ONE


def test_submitting_twice_changes_nothing(seated):
    fill(seated)
    submit_review(narrative=seated.narrative, by=seated.dan, now=NOON)

    assert submit_review(narrative=seated.narrative, by=seated.dan, now=ONE).submitted_at == NOON


def test_a_submitted_review_stays_as_it_is(seated):
    fill(seated)
    submit_review(narrative=seated.narrative, by=seated.dan)

    with pytest.raises(Refused, match="You have submitted this review"):
        save_rating(narrative=seated.narrative, criterion=KEY, level="poor", by=seated.dan)

    assert Rating.objects.get(criterion=KEY).level == "excellent"


def test_an_instruction_that_was_sent_back_is_not_begun(seated):
    rewriting.send_back(pair=seated.pair, by=seated.carla)

    with pytest.raises(Refused, match="was sent back"):
        start_review(narrative=seated.narrative, by=seated.dan)


def test_a_draft_can_be_finished_though_the_instruction_was_sent_back(seated):
    fill(seated)
    rewriting.send_back(pair=seated.pair, by=seated.carla)

    assert submit_review(narrative=seated.narrative, by=seated.dan).submitted_at is not None


def test_an_instruction_that_was_removed_is_not_begun(seated):
    rewriting.remove(pair=seated.pair, by=seated.carla)

    with pytest.raises(Refused, match="was removed"):
        start_review(narrative=seated.narrative, by=seated.dan)


def test_in_an_archived_project_nothing_is_reviewed(seated):
    rules.archive(by=seated.carla)
    seated.dan.refresh_from_db()

    with pytest.raises(Refused, match="archived"):
        fill(seated)


def test_the_next_review_is_the_one_that_was_begun(seated):
    other = factories.pair(factories.query(seated.project, "302"))
    assignments.take(pair=other, task=Assignment.Task.REVIEW, by=seated.dan)
    fill(seated)

    assert next_pair(seated.dan) == seated.pair


def test_after_the_last_begun_review_comes_an_open_seat(seated):
    other = factories.pair(factories.query(seated.project, "302"))
    fill(seated)
    submit_review(narrative=seated.narrative, by=seated.dan)

    assert next_pair(seated.dan) == other
    assert next_pair(seated.carla) == other


def test_where_nothing_waits_there_is_no_seat(seated):
    assert next_pair(seated.carla) is None


def test_a_rewritten_instruction_comes_back_to_its_auditors(seated):
    fill(seated)
    submit_review(narrative=seated.narrative, by=seated.dan)
    rewriting.rewrite_narrative(
        pair=seated.pair, text="Only tidal fences count.", based_on=1, by=seated.carla
    )

    assert next_pair(seated.dan) == seated.pair
