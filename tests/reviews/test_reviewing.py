"""An auditor's review is a draft that keeps every answer until it is submitted for good."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from annotate.judgments import assignments
from annotate.models import Assignment
from annotate.projects import actions as projects
from annotate.rewriting import actions as rewriting
from audit.models import Rating, Review
from audit.reviews.actions import (
    save_rating,
    save_ratings,
    submit_review,
    take_review,
)
from audit.reviews.criteria import FOLLOWTABLE
from audit.reviews.passes import pass_of, summary_digest
from base.errors import Refused, Stale, Unconfirmed
from tests import factories
from tests.second_pass import levels, take_reviews

pytestmark = pytest.mark.both_databases

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
ONE = datetime(2026, 11, 21, 13, tzinfo=UTC)
KEY = "semantic_expansion"


def fill(scene, by=None, **others):
    return save_ratings(
        narrative=scene.narrative, answers=levels(**others), by=by or scene.dan, now=NOON
    )


@pytest.fixture(scope="module")
def scene_of_file(scene_of_file):
    return take_reviews(scene_of_file)


def assignment_of(scene, member):
    return Assignment.objects.get(pair=scene.pair, member=member, task=Assignment.Task.REVIEW)


def next_pair(member):
    assignment = take_review(by=member, become_blind=True)
    return assignment and assignment.pair


def test_a_review_begins_once_for_each_auditor_and_version(scene):
    first = save_ratings(narrative=scene.narrative, answers={}, by=scene.dan, now=NOON)

    assert save_ratings(narrative=scene.narrative, answers={}, by=scene.dan) == first
    assert (first.rubric, first.started_at, first.submitted_at) == (FOLLOWTABLE.name, NOON, None)
    assert save_ratings(narrative=scene.narrative, answers={}, by=scene.ben) != first


def test_the_first_answer_begins_the_review_and_the_assignment(scene):
    save_rating(
        narrative=scene.narrative, criterion=KEY, level="acceptable", by=scene.dan, now=NOON
    )

    assert Rating.objects.get().level == "acceptable"
    assert (
        assignment_of(scene, scene.dan).touched_at,
        assignment_of(scene, scene.dan).done_at,
    ) == (
        NOON,
        None,
    )


def test_answering_again_changes_the_answer(scene):
    for level in ("excellent", "poor"):
        save_rating(narrative=scene.narrative, criterion=KEY, level=level, by=scene.dan)

    assert Rating.objects.get().level == "poor"


def test_another_level_drops_the_words_that_explained_the_one_before(scene):
    save_rating(
        narrative=scene.narrative, criterion=KEY, level="poor", words="Vague.", by=scene.dan
    )

    save_rating(narrative=scene.narrative, criterion=KEY, level="excellent", by=scene.dan)

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
def test_words_are_kept_with(scene, before, after):
    for rating in (before, after):
        save_rating(narrative=scene.narrative, criterion=KEY, by=scene.dan, **rating)

    assert (Rating.objects.get().level, Rating.objects.get().words) == (after["level"], "Vague.")


def test_words_without_a_level_are_kept(scene):
    save_rating(narrative=scene.narrative, criterion=KEY, words="Hm", by=scene.dan)

    assert (Rating.objects.get().level, Rating.objects.get().words) == ("", "Hm")


def test_poor_without_words_is_kept_as_a_draft(scene):
    save_rating(narrative=scene.narrative, criterion=KEY, level="poor", by=scene.dan)

    assert Rating.objects.get().level == "poor"
    assert Review.objects.get().submitted_at is None


def test_cleared_words_are_removed(scene):
    save_rating(narrative=scene.narrative, criterion=KEY, words="Hm", by=scene.dan)

    save_rating(narrative=scene.narrative, criterion=KEY, words="", by=scene.dan)

    assert Rating.objects.get().words == ""


def test_an_empty_level_takes_the_level_back(scene):
    save_rating(narrative=scene.narrative, criterion=KEY, level="poor", by=scene.dan)

    save_rating(narrative=scene.narrative, criterion=KEY, level="", by=scene.dan)

    rating = Rating.objects.get()
    assert (rating.level, rating.place, rating.rejects) == ("", None, None)


def test_an_unanswered_criterion_has_no_row(scene):
    answers = {**levels(), KEY: (None, "")}

    save_ratings(narrative=scene.narrative, answers=answers, by=scene.dan)

    assert Rating.objects.count() == 5


@pytest.mark.parametrize(
    ("answers", "sentence"),
    [
        ({"beauty": ("poor", "")}, "“beauty” is not one of the criteria"),
        ({KEY: ("great", "")}, "“great” is not a level"),
        ({KEY: ("poor", "x" * 10_001)}, "10,001 characters; at most 10,000"),
    ],
)
def test_an_invalid_answer_is_refused_and_nothing_is_saved(scene, answers, sentence):
    with pytest.raises(Refused, match=sentence):
        save_ratings(narrative=scene.narrative, answers={**levels(), **answers}, by=scene.dan)

    assert not Review.objects.exists()
    assert not Rating.objects.exists()


@pytest.mark.parametrize("who", ["ada", "carla", "eve"])
def test_members_without_an_assignment_cannot_review(scene, who):
    with pytest.raises(Refused, match="not your task"):
        fill(scene, by=getattr(scene, who))

    assert not Review.objects.exists()


def test_nobody_reviews_their_own_narrative(scene):
    mine = rewriting.rewrite_narrative(
        pair=scene.pair, text="Only tidal fences count.", based_on=1, by=scene.carla
    )
    assignment = assignment_of(scene, scene.dan)
    Assignment.objects.filter(pk=assignment.pk).update(member=scene.carla)

    with pytest.raises(Refused, match="You wrote this"):
        save_ratings(narrative=mine, answers={}, by=scene.carla)

    assert not Review.objects.exists()


def test_the_original_narrative_is_not_reviewed(scene):
    original = scene.pair.current("original")

    with pytest.raises(Refused, match="Only the altered"):
        save_ratings(narrative=original, answers={}, by=scene.dan)


def test_a_superseded_version_is_refused_and_the_draft_stays_with_it(scene):
    fill(scene)
    rewriting.rewrite_narrative(
        pair=scene.pair, text="Only tidal fences count.", based_on=1, by=scene.carla
    )

    with pytest.raises(Stale, match="changed while you were reading"):
        save_rating(narrative=scene.narrative, criterion=KEY, level="poor", by=scene.dan)
    with pytest.raises(Stale):
        submit_review(narrative=scene.narrative, by=scene.dan)

    assert Rating.objects.get(criterion=KEY).level == "excellent"
    assert Review.objects.get().submitted_at is None


def test_a_new_version_gets_a_new_review(scene):
    fill(scene)
    submit_review(narrative=scene.narrative, by=scene.dan)
    second = rewriting.rewrite_narrative(
        pair=scene.pair, text="Only tidal fences count.", based_on=1, by=scene.carla
    )

    save_rating(narrative=second, criterion=KEY, level="poor", by=scene.dan)

    assert Review.objects.filter(auditor=scene.dan).count() == 2


def test_submitting_needs_every_criterion(scene):
    save_rating(narrative=scene.narrative, criterion=KEY, level="excellent", by=scene.dan)

    with pytest.raises(
        Refused,
        match="Not rated yet: semantic consistency, query dependency, constraint abstraction, "
        "category-aware focus, internal consistency",
    ):
        submit_review(narrative=scene.narrative, by=scene.dan)

    assert Review.objects.get().submitted_at is None


def test_submitting_needs_words_for_what_is_poor(scene):
    fill(scene)
    save_rating(narrative=scene.narrative, criterion=KEY, level="poor", words=" ", by=scene.dan)

    with pytest.raises(Refused, match="Say in words why it fails on: semantic expansion"):
        submit_review(narrative=scene.narrative, by=scene.dan)

    assert Review.objects.get().submitted_at is None


def test_submitting_nothing_is_refused(scene):
    with pytest.raises(Refused, match="Nothing is rated yet"):
        submit_review(narrative=scene.narrative, by=scene.dan)


def test_submitting_ends_the_draft_and_the_assignment(scene):
    fill(scene, semantic_expansion="poor")

    made = submit_review(narrative=scene.narrative, by=scene.dan, now=ONE)

    assert made.submitted_at == ONE
    assert assignment_of(scene, scene.dan).done_at == ONE
    assert assignment_of(scene, scene.ben).done_at is None


def digest_of(scene: Any) -> str:
    written = pass_of(scene.narrative, scene.dan)
    assert written is not None
    return summary_digest(written)


def test_a_review_is_not_submitted_without_confirming_its_current_summary(scene):
    fill(scene)
    shown = digest_of(scene)
    save_rating(narrative=scene.narrative, criterion=KEY, level="acceptable", by=scene.dan)

    for confirmed in ("", shown):
        with pytest.raises(Unconfirmed):
            submit_review(narrative=scene.narrative, by=scene.dan, confirmed=confirmed)
    assert Review.objects.get().submitted_at is None

    now = digest_of(scene)
    submit_review(narrative=scene.narrative, by=scene.dan, confirmed=now, now=ONE)
    assert Review.objects.get().submitted_at == ONE


def test_submitting_twice_changes_nothing(scene):
    fill(scene)
    submit_review(narrative=scene.narrative, by=scene.dan, now=NOON)

    assert submit_review(narrative=scene.narrative, by=scene.dan, now=ONE).submitted_at == NOON


def test_a_submitted_review_cannot_change(scene):
    fill(scene)
    submit_review(narrative=scene.narrative, by=scene.dan)

    with pytest.raises(Refused, match="You have submitted this review"):
        save_rating(narrative=scene.narrative, criterion=KEY, level="poor", by=scene.dan)

    assert Rating.objects.get(criterion=KEY).level == "excellent"


def test_a_review_of_a_sent_back_instruction_cannot_start(scene):
    rewriting.send_back(pair=scene.pair, by=scene.carla)

    with pytest.raises(Refused, match="was sent back"):
        save_ratings(narrative=scene.narrative, answers={}, by=scene.dan)


def test_a_draft_can_be_finished_though_the_instruction_was_sent_back(scene):
    fill(scene)
    rewriting.send_back(pair=scene.pair, by=scene.carla)

    assert submit_review(narrative=scene.narrative, by=scene.dan).submitted_at is not None


def test_a_review_of_a_removed_instruction_cannot_start(scene):
    rewriting.remove(pair=scene.pair, by=scene.carla)

    with pytest.raises(Refused, match="was removed"):
        save_ratings(narrative=scene.narrative, answers={}, by=scene.dan)


def test_nothing_is_reviewed_in_an_archived_project(scene):
    projects.archive(by=scene.carla)
    scene.dan.refresh_from_db()

    with pytest.raises(Refused, match="archived"):
        fill(scene)


def test_the_next_review_is_the_one_that_was_begun(scene):
    other = factories.pair(factories.query(scene.project, "302"))
    assignments.take(pair=other, task=Assignment.Task.REVIEW, by=scene.dan)
    fill(scene)

    assert next_pair(scene.dan) == scene.pair


def test_an_open_assignment_comes_after_the_last_begun_review(scene):
    other = factories.pair(factories.query(scene.project, "302"))
    fill(scene)
    submit_review(narrative=scene.narrative, by=scene.dan)

    assert next_pair(scene.dan) == other
    assert next_pair(scene.carla) == other


def test_there_is_no_assignment_without_an_open_review(scene):
    assert next_pair(scene.carla) is None


def test_a_rewritten_instruction_comes_back_to_its_auditors(scene):
    fill(scene)
    submit_review(narrative=scene.narrative, by=scene.dan)
    rewriting.rewrite_narrative(
        pair=scene.pair, text="Only tidal fences count.", based_on=1, by=scene.carla
    )

    assert next_pair(scene.dan) == scene.pair
