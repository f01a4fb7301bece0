"""The hash chains of reviews and decisions: the fields that are hashed, and labels of rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator
from typing import Any

from annotate.projects import hash_chain
from annotate.projects.hash_chain import Content, Kind, Row, hashed_time
from annotate.projects.models import Project
from audit.reviews.models import Decision, Rating, Review, ReviewedText

REVIEW, DECISION = "review", "decision"


def reviews(project: int, **among: Any) -> Iterator[tuple[int, Row]]:
    """Yield the submitted reviews of a project with their ratings and the texts that were at hand
    as chain rows, each with its key.
    """
    found = Review.objects.submitted().filter(auditor__project=project, **among)
    given: dict[int, list[str]] = defaultdict(list)
    ratings = Rating.objects.filter(review__in=found.order_by().values("pk")).order_by("criterion")
    for review, *rating in ratings.values_list("review", "criterion", "level", "words"):
        given[review] += rating
    at_hand: dict[int, list[str]] = defaultdict(list)
    reviewed_texts = ReviewedText.objects.filter(review__in=found.order_by().values("pk"))
    for review, *read in sorted(
        reviewed_texts.values_list("review", "document__doc_id", "text_version")
    ):
        at_hand[review].append(" ".join(map(str, read)))
    for key, *where, auditor, rubric, started_at, submitted_at in found.order_by("pk").values_list(
        *("pk", *_of("narrative"), "auditor__name", "rubric", "started_at", "submitted_at")
    ):
        times = (hashed_time(started_at), hashed_time(submitted_at))
        content = (*where, auditor, rubric, *times, *given[key], *at_hand[key])
        yield key, Row(hash_chain.named(REVIEW, *where, auditor), content)


def decisions(project: int, **among: Any) -> Iterator[tuple[int, Row]]:
    """Yield the decisions on instructions of a project as chain rows, each with its key."""
    rows = Decision.objects.filter(by__project=project, **among).order_by("pk")
    return hash_chain.with_uuids(
        (
            key,
            (*where, by, hashed_time(at)),
            (*where, by, outcome, reason, hashed_time(at)),
            None if withdrawn_at is None else (hashed_time(withdrawn_at), by_whom),
        )
        for key, *where, by, outcome, reason, at, withdrawn_at, by_whom in rows.values_list(
            *("pk", *_of("narrative"), "by__name", "outcome", "reason", "at"),
            *("withdrawn_at", "withdrawn_by__name"),
        )
    )


ROWS = {REVIEW: reviews, DECISION: decisions}


def follow(
    kind: str,
    project: int,
    *,
    new: Container[int] = (),
    ended: Container[int] = (),
    **among: Any,
) -> None:
    """Append new and ended reviews or decisions to their chain; `among` narrows the query."""
    hash_chain.append_changes(kind, project, ROWS[kind](project, **among), new=new, ended=ended)


def _of(narrative: str) -> tuple[str, str, str]:
    return (f"{narrative}__pair__pair_id", f"{narrative}__side", f"{narrative}__version")


def _read_reviews(project: Project | None) -> Iterator[Row]:
    return hash_chain.sorted_by_uuid(reviews(project.pk) if project else ())


def _read_decisions(project: Project | None) -> Iterator[Row]:
    return hash_chain.sorted_by_uuid(decisions(project.pk) if project else ())


def _label_review(what: Content) -> str:
    about = dict(zip(("pair_id", "side", "version", "auditor"), what, strict=False))
    return "the review of {pair_id}, {side} {version}, by {auditor}".format(**about)


def _label_decision(what: Content) -> str:
    about = dict(zip(("pair_id", "side", "version"), what, strict=False))
    return "the decision on {pair_id}, {side} {version}".format(**about)


KINDS = {
    REVIEW: Kind(_read_reviews, _label_review),
    DECISION: Kind(_read_decisions, _label_decision),
}
