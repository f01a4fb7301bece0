"""Settling many documents at once by one rule: what would come of it, and doing just that.

Only what judges differ on is settled so, and only what is open. What was sent back to an annotator
waits for them. The preview has a token of all it was counted from; settling with it settles what
was seen or nothing.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from hashlib import blake2b
from typing import NamedTuple
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Max, Q, Sum
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from annotate.collection import text_versions
from annotate.collection.models import Candidate
from annotate.pairs.models import Narrative
from annotate.projects.models import Membership
from audit.settling import adjudication, batches
from audit.settling.disagreement_queries import source
from audit.settling.kinds.frame import Reader
from audit.settling.queue_filters import Kind, Wanted
from base.errors import Refused, Stale

# So many of each outcome are shown.
SHOWN = 5

# Settling as one person says reveals what that person said.
NO_PERSON_WHILE_NAMES_ARE_HIDDEN = _lazy(
    "Names are hidden in this project, so documents cannot be settled as one person says. Choose "
    "another rule, or show names in the settings."
)


class Rule(StrEnum):
    """How each document is settled."""

    MAJORITY = "majority"
    PERSON = "person"
    GRADE = "grade"


@dataclass(frozen=True)
class How:
    """By which rule documents are settled; `person` is the key of who is followed."""

    rule: Rule
    person: int | None = None
    grade: int | None = None


class Outcome(NamedTuple):
    """What would become of one document; `relevance` is None where it is left open. `said`: how
    often each grade was given.
    """

    narrative: int
    candidate: int
    relevance: int | None
    said: tuple[tuple[int, int], ...]
    # Whether settling decides if the document counts as relevant.
    decides: bool
    # The keys of the judgments, summed: others are others.
    keys: int


@dataclass
class ShownOutcome:
    """One outcome as a page shows it."""

    narrative: Narrative
    candidate: Candidate
    relevance: int | None
    grades: list[int]


@dataclass(frozen=True)
class Preview:
    """What settling would come to."""

    # How many are settled as each grade, from low to high.
    settled: dict[int, int]
    left: int
    # Of those that are settled, how many are decided on: whether the document counts as relevant.
    counts_then: int
    drops_then: int
    token: str
    shown: list[ShownOutcome] = field(default_factory=list)

    @property
    def total(self) -> int:
        """How many are settled."""
        return sum(self.settled.values())

    @property
    def decided(self) -> int:
        """In how many the set of relevant documents changes."""
        return self.counts_then + self.drops_then


def preview(by: Membership, wanted: Wanted, how: How) -> Preview:
    """Count what settling all that is `wanted` would come to: one query, and two for what is
    shown. No document's text is read.
    """
    outcomes = _outcomes(by, wanted, how)
    return _preview(by, outcomes, _first_of_each(outcomes))


def settle_many(
    *,
    wanted: Wanted,
    how: How,
    cause: str,
    reason: str,
    token: str,
    by: Membership,
    now: datetime | None = None,
) -> UUID:
    """Settle what the preview with this token showed, and return the batch.

    Stale: somebody judged, settled or sent something back meanwhile, or a document got another
    text, so that the same rule comes to something else. Refused: as `settling.settle_together`.
    """
    adjudication.checked_reason(reason, cause)
    with transaction.atomic():
        batches.hold_pairs(by)
        outcomes = _unchanged(_outcomes(by, wanted, how), token)
        if text_versions.lock_texts(one.candidate for one in outcomes):
            # A load that committed before the locks has replaced texts that were counted.
            _unchanged(_outcomes(by, wanted, how), token)
        return batches.settle_together(
            decisions=[
                (one.narrative, one.candidate, one.relevance)
                for one in outcomes
                if one.relevance is not None
            ],
            cause=cause,
            reason=reason,
            by=by,
            now=now,
        )


def _unchanged(outcomes: list[Outcome], token: str) -> list[Outcome]:
    """Return the outcomes if they are those that the preview with this token showed."""
    if _token(outcomes) != token:
        raise Stale(
            _(
                "Something has changed since this was counted: people judged, something was "
                "settled or sent back, or a document got another text. Look at it once more."
            )
        )
    return outcomes


def _outcomes(by: Membership, wanted: Wanted, how: How) -> list[Outcome]:
    """What becomes of each document that is wanted, in the order of the keys."""
    reader = Reader(by)
    if how.rule is Rule.GRADE and how.grade not in reader.grades:
        raise Refused(_("Choose one of the grades of this project."))
    if how.rule is Rule.PERSON and by.project.hide_names:
        raise Refused(str(NO_PERSON_WHILE_NAMES_ARE_HIDDEN))
    wanted = wanted.of(kind=Kind.JUDGMENT, settled=False, waiting=False)
    if Kind.JUDGMENT not in wanted.kinds:
        return []
    said = {f"n_{place}": grade for place, grade in enumerate(reader.grades)}
    rows = (
        source(Kind.JUDGMENT, reader, wanted)
        .rows.annotate(
            theirs=Max("relevance", filter=Q(annotator=how.person or 0)),
            keys=Sum("pk"),
            **{name: Count("pk", filter=Q(relevance=grade)) for name, grade in said.items()},
        )
        .order_by("narrative_id", "candidate_id")
    )
    threshold = reader.project.relevant_from
    found = []
    for narrative, candidate, low, high, theirs, keys, *counts in rows.values_list(
        "narrative_id", "candidate_id", "low", "high", "theirs", "keys", *said
    ):
        given = tuple(
            (grade, count) for grade, count in zip(reader.grades, counts, strict=True) if count
        )
        found.append(
            Outcome(
                narrative,
                candidate,
                _settled_as(how, given, theirs),
                given,
                low < threshold <= high,
                keys,
            )
        )
    return found


def _settled_as(how: How, said: tuple[tuple[int, int], ...], theirs: int | None) -> int | None:
    """What one document is settled as; None where the rule says nothing."""
    if how.rule is Rule.GRADE:
        return how.grade
    if how.rule is Rule.PERSON:
        return theirs
    people = sum(count for _grade, count in said)
    return next((grade for grade, count in said if 2 * count > people), None)


def _preview(by: Membership, outcomes: list[Outcome], shown: list[ShownOutcome]) -> Preview:
    settled = Counter(one.relevance for one in outcomes if one.relevance is not None)
    threshold = by.project.relevant_from
    decided = Counter(
        one.relevance >= threshold for one in outcomes if one.relevance is not None and one.decides
    )
    return Preview(
        settled=dict(sorted(settled.items())),
        left=len(outcomes) - settled.total(),
        counts_then=decided[True],
        drops_then=decided[False],
        token=_token(outcomes),
        shown=shown,
    )


def _token(outcomes: list[Outcome]) -> str:
    seen = blake2b(digest_size=16)
    for one in outcomes:
        seen.update(f"{one.narrative} {one.candidate} {one.relevance} {one.keys}\n".encode())
    return seen.hexdigest()


def _first_of_each(outcomes: list[Outcome]) -> list[ShownOutcome]:
    """The first few of each outcome, what is left open last."""
    first: dict[int | None, list[Outcome]] = {}
    for one in outcomes:
        alike = first.setdefault(one.relevance, [])
        if len(alike) < SHOWN:
            alike.append(one)
    settled = sorted(grade for grade in first if grade is not None)
    chosen = [one for grade in [*settled, None] for one in first.get(grade, [])]
    narratives = (
        Narrative.objects.select_related("pair__query")
        .defer("text", "pair__query__description")
        .in_bulk([one.narrative for one in chosen])
    )
    candidates = Candidate.with_removed.select_related("document").in_bulk(
        [one.candidate for one in chosen]
    )
    return [
        ShownOutcome(
            narratives[one.narrative],
            candidates[one.candidate],
            one.relevance,
            [grade for grade, count in one.said for _ in range(count)],
        )
        for one in chosen
    ]
