"""The hash chains of reviews and decisions: the fields that are hashed, and labels of rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from operator import attrgetter
from typing import Any

from django.db.models import QuerySet

from annotate.judgments.judgment_chain import names_of_narrative
from annotate.projects.hash_chain import Content, Kind, Row, hashed_time, named
from audit.reviews.models import Decision, Rating, Review, ReviewedText

REVIEW, DECISION = "review", "decision"


def _read_reviews(rows: QuerySet[Any]) -> Iterator[Row]:
    """Return submitted reviews with their ratings and the texts that were at hand.

    A review has no UUID of its own: its auditor and what it is about name it. In the order of these
    names, whatever the query's order.
    """
    keys = rows.order_by().values("pk")
    rated: dict[int, list[Any]] = defaultdict(list)
    ratings = Rating.objects.filter(review__in=keys).order_by("criterion")
    for review, *rating in ratings.values_list(
        "review", "criterion", "level", "place", "rejects", "words"
    ):
        rated[review] += rating
    at_hand: dict[int, list[str]] = defaultdict(list)
    texts = ReviewedText.objects.filter(review__in=keys)
    for review, *read in sorted(texts.values_list("review", "document__doc_id", "text_version")):
        at_hand[review].append(" ".join(map(str, read)))
    found = rows.values_list(
        *("pk", *names_of_narrative("narrative"), "auditor__name", "rubric"),
        *("started_at", "submitted_at"),
    )
    reviews = []
    for key, query, *about, rubric, started_at, submitted_at in found:
        times = (hashed_time(started_at), hashed_time(submitted_at))
        content = (query, *about, rubric, *times, *rated[key], *at_hand[key])
        reviews.append(Row(named(REVIEW, *about), content))
    return iter(sorted(reviews, key=attrgetter("name")))


def _read_decisions(rows: QuerySet[Any]) -> Iterator[Row]:
    found = rows.values_list(
        *("uuid", *names_of_narrative("narrative"), "by__name", "outcome", "reason", "at"),
        *("withdrawn_at", "withdrawn_by__name"),
    )
    for name, *what, at, withdrawn_at, withdrawn_by in found.iterator():
        ended = None if withdrawn_at is None else (hashed_time(withdrawn_at), withdrawn_by)
        yield Row(name, (*what, hashed_time(at)), ended)


def _label_review(what: Content) -> str:
    _query, pair_id, side, version, auditor = what[:5]
    return f"the review of {pair_id}, {side} {version}, by {auditor}"


def _label_decision(what: Content) -> str:
    _query, pair_id, side, version = what[:4]
    return f"the decision on {pair_id}, {side} {version}"


KINDS = {
    REVIEW: Kind(
        Review.objects.submitted, "auditor__project", _read_reviews, _label_review, order="pk"
    ),
    DECISION: Kind(Decision.objects.all, "by__project", _read_decisions, _label_decision),
}
