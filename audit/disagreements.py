"""What people answered differently: one list over judgments and reviews, in pages that a key opens.

Judgments differ on a candidate when people's current grades come to no relevance by the project's
rule (`annotate.pure.consensus` says the same of one candidate). Reviews differ on a narrative when
auditors straddle poor on some criterion. Both under narratives in force only. No document's text is
read here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from operator import attrgetter
from typing import Any, NamedTuple

from django.db.models import (
    Count,
    Exists,
    F,
    Max,
    Min,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
)
from django.db.models.functions import Coalesce

from annotate.models import (
    Adjudication,
    Assignment,
    Candidate,
    Judgment,
    Membership,
    Narrative,
    Project,
)
from audit.models import Decision, Rating, Review

PAGE_SIZE = 50
# Databases count rows in 64 bits.
_TOO_LARGE = 2**63


class Kind(StrEnum):
    """What people differ on."""

    JUDGMENT = "judgment"
    REVIEW = "review"


class Order(StrEnum):
    """What comes first."""

    DISTANCE = "distance"
    AGE = "age"


@dataclass(frozen=True)
class Wanted:
    """Which disagreements of a project are asked for, in which order."""

    settled: bool = False
    kind: Kind | None = None
    query: int | None = None
    # Two memberships who differ from each other.
    people: tuple[int, int] | None = None
    order: Order = Order.DISTANCE


class Key(NamedTuple):
    """The place of one disagreement in the list. `candidate` is 0 where reviews differ."""

    distance: int
    at: datetime
    kind: Kind
    narrative: int
    candidate: int

    def __str__(self) -> str:
        return "~".join(
            (
                str(self.distance),
                self.at.isoformat(),
                self.kind.value,
                str(self.narrative),
                str(self.candidate),
            )
        )

    @classmethod
    def parse(cls, text: str) -> Key:
        """Read a key as `str` writes it, or raise ValueError."""
        distance, at, kind, narrative, candidate = text.split("~")
        moment = datetime.fromisoformat(at)
        if moment.tzinfo is None or not 1970 <= moment.year < 9999:
            raise ValueError(f"{at!r} is no moment of this list")
        numbers = int(distance), int(narrative), int(candidate)
        if not all(0 <= number < _TOO_LARGE for number in numbers):
            raise ValueError(f"{text!r} holds a number that no row has")
        return cls(numbers[0], moment, Kind(kind), numbers[1], numbers[2])


class Voice(NamedTuple):
    """What one person said, in a list: the grade, or on how many criteria they said poor."""

    name: str
    relevance: int | None
    poor: int | None


@dataclass
class Item:
    """One disagreement as the list shows it."""

    key: Key
    narrative: Narrative
    candidate: Candidate | None
    voices: list[Voice] = field(default_factory=list)
    settled: Adjudication | Decision | None = None


@dataclass(frozen=True)
class Page:
    """A stretch of the list. `after` opens the next one; None at the end."""

    items: list[Item]
    after: Key | None
    total: int


def page(
    by: Membership, wanted: Wanted, *, after: Key | None = None, size: int = PAGE_SIZE
) -> Page:
    """Return the disagreements behind `after` as the list shows them: a fixed number of queries."""
    keys = _keys(by, wanted, after, size + 1)
    items = _hydrate(keys[:size], settled=wanted.settled)
    return Page(items, keys[size - 1] if len(keys) > size else None, count(by, wanted))


def count(by: Membership, wanted: Wanted) -> int:
    """Return how many disagreements there are."""
    total = 0
    if wanted.kind is not Kind.REVIEW:
        total += _judgments(by, wanted).count()
    if wanted.kind is not Kind.JUDGMENT:
        total += _reviews(by, wanted).count()
    return total


def following(by: Membership, wanted: Wanted, key: Key | None) -> Key | None:
    """Return the disagreement to open after `key`: onward, then around; None: none left."""
    onward = _keys(by, wanted, key, 1)
    if not onward and key is not None:
        onward = [one for one in _keys(by, wanted, None, 2) if one[2:] != key[2:]]
    return onward[0] if onward else None


def key_of_judgments(narrative: Narrative, candidate: Candidate) -> Key | None:
    """Return the place of a candidate on which people differ, settled or not; None: they agree."""
    said = (
        Judgment.objects.current()
        .of_people()
        .filter(narrative=narrative, candidate=candidate)
        .aggregate(low=Min("relevance"), high=Max("relevance"), since=Max("at"))
    )
    if said["low"] == said["high"]:
        return None
    return Key(said["high"] - said["low"], said["since"], Kind.JUDGMENT, narrative.pk, candidate.pk)


def key_of_reviews(narrative: Narrative) -> Key | None:
    """Return the place of a narrative on which auditors straddle poor, decided or not."""
    found = _with_place(_straddling(Narrative.objects.filter(pk=narrative.pk))).first()
    return None if found is None else _key_of_review(found)


def judge_first(who: Membership, narrative: Narrative, candidate: Candidate) -> bool:
    """Tell whether `who` sits in a judge seat of the pair and has yet to judge this candidate."""
    holds = Assignment.objects.open().filter(
        pair=narrative.pair_id, task=Assignment.Task.JUDGE, member=who
    )
    said = Judgment.objects.current().filter(
        narrative=narrative, candidate=candidate, annotator=who
    )
    return holds.exists() and not said.exists()


def _keys(by: Membership, wanted: Wanted, after: Key | None, size: int) -> list[Key]:
    """Merge the first `size` keys behind `after` of either kind."""
    found: list[Key] = []
    if wanted.kind is not Kind.REVIEW:
        found += [
            Key(
                row["distance"],
                row["since"],
                Kind.JUDGMENT,
                row["narrative_id"],
                row["candidate_id"],
            )
            for row in _stretch(_judgments(by, wanted), wanted, Kind.JUDGMENT, after)[:size]
        ]
    if wanted.kind is not Kind.JUDGMENT:
        found += [
            _key_of_review(row)
            for row in _stretch(_reviews(by, wanted), wanted, Kind.REVIEW, after)[:size]
        ]
    if wanted.settled:
        found.sort(key=attrgetter("kind", "narrative", "candidate"))
        found.sort(key=attrgetter("at"), reverse=True)
    elif wanted.order is Order.AGE:
        found.sort(key=attrgetter("at", "kind", "narrative", "candidate"))
    else:
        found.sort(key=attrgetter("kind", "narrative", "candidate"))
        found.sort(key=attrgetter("distance"), reverse=True)
    return found[:size]


def _stretch(rows: QuerySet[Any, Any], wanted: Wanted, kind: Kind, after: Key | None) -> Any:
    """Order one kind's rows and cut off those up to `after`."""
    ids = ("narrative_id", "candidate_id") if kind is Kind.JUDGMENT else ("pk",)
    if wanted.settled:
        rows = rows.order_by("-since", *ids)
        past, same = "since__lt", "since"
    elif wanted.order is Order.AGE:
        rows = rows.order_by("since", *ids)
        past, same = "since__gt", "since"
    else:
        rows = rows.order_by("-distance", *ids)
        past, same = "distance__lt", "distance"
    if after is None:
        return rows
    at = after.distance if same == "distance" else after.at
    behind = Q(**{past: at})
    if kind > after.kind:
        behind |= Q(**{same: at})
    elif kind is after.kind is Kind.JUDGMENT:
        behind |= Q(**{same: at}) & (
            Q(narrative_id__gt=after.narrative)
            | Q(narrative_id=after.narrative, candidate_id__gt=after.candidate)
        )
    elif kind is after.kind:
        behind |= Q(**{same: at}, pk__gt=after.narrative)
    return rows.filter(behind)


def _narratives(by: Membership, wanted: Wanted) -> QuerySet[Narrative]:
    """The narratives in force, of every side: an export writes the qrels of each."""
    found = Narrative.objects.current().filter(
        pair__project=by.project_id, pair__removed_at__isnull=True
    )
    return found if wanted.query is None else found.filter(pair__query=wanted.query)


def _judgments(by: Membership, wanted: Wanted) -> QuerySet[Any, Any]:
    """Rows of narrative_id, candidate_id, distance and since: last judged, or settled, when."""
    same = {"narrative": OuterRef("narrative_id"), "candidate": OuterRef("candidate_id")}
    settled = Adjudication.objects.current().filter(**same)
    current = Judgment.objects.current().of_people()
    rows = current.filter(narrative__in=_narratives(by, wanted).values("pk"))
    # A lead who holds a seat judges first, and sees what others said afterwards.
    seat = Assignment.objects.open().filter(
        pair=OuterRef("narrative__pair_id"), task=Assignment.Task.JUDGE, member=by
    )
    rows = rows.filter(~Exists(seat) | Exists(current.filter(**same, annotator=by)))
    rows = rows.filter(Exists(settled) if wanted.settled else ~Exists(settled))
    grouped = (
        rows.order_by()
        .values("narrative_id", "candidate_id")
        .annotate(
            people=Count("pk"),
            distance=Max("relevance") - Min("relevance"),
            since=Subquery(settled.values("at")[:1]) if wanted.settled else Max("at"),
        )
    )
    if not wanted.settled:
        # Settled ones stay in their list even if the judges have come to agree since.
        grouped = grouped.filter(distance__gt=0)
        if by.project.consensus == Project.Consensus.MAJORITY:
            # No grade has more than half. A count for each grade costs one walk through the rows,
            # a subquery for each candidate would cost ten times as much.
            grades = current.filter(annotator__project=by.project_id).order_by()
            for grade in grades.values_list("relevance", flat=True).distinct():
                saying_it = Count("pk", filter=Q(relevance=grade))
                grouped = grouped.filter(people__gte=2 * saying_it)
    if wanted.people is not None:
        first, second = wanted.people
        grouped = grouped.annotate(
            first=Max("relevance", filter=Q(annotator=first)),
            second=Max("relevance", filter=Q(annotator=second)),
        ).filter(Q(first__gt=F("second")) | Q(first__lt=F("second")))
    return grouped


def _reviews(by: Membership, wanted: Wanted) -> QuerySet[Narrative]:
    """Narratives on which auditors straddle poor, with `distance` and `since`."""
    decided = Decision.objects.current().filter(narrative=OuterRef("pk"))
    found = _narratives(by, wanted)
    seat = Assignment.objects.open().filter(
        pair=OuterRef("pair_id"), task=Assignment.Task.REVIEW, member=by
    )
    mine = Review.objects.submitted().filter(narrative=OuterRef("pk"), auditor=by)
    found = found.filter(~Exists(seat) | Exists(mine) | Q(author=by))
    found = _straddling(found, wanted.people)
    if not wanted.settled:
        return _with_place(found.filter(~Exists(decided)))
    return _with_place(found.filter(Exists(decided)), since=Subquery(decided.values("at")[:1]))


def _straddling(
    narratives: QuerySet[Narrative], people: tuple[int, int] | None = None
) -> QuerySet[Narrative]:
    """Keep the narratives of which some submitted review says poor where another does not."""
    ratings = Rating.objects.filter(review__submitted_at__isnull=False).exclude(level="")
    if people is not None:
        ratings = ratings.filter(review__auditor__in=people)
    other = ratings.filter(
        review__narrative=OuterRef("review__narrative"),
        criterion=OuterRef("criterion"),
        rejects=False,
    )
    return narratives.filter(
        Exists(ratings.filter(Exists(other), review__narrative=OuterRef("pk"), rejects=True))
    )


def _with_place(
    narratives: QuerySet[Narrative], since: Subquery | None = None
) -> QuerySet[Narrative]:
    """Add `distance` (how many levels apart auditors are at most where they straddle), `since`."""
    ratings = Rating.objects.filter(review__submitted_at__isnull=False)
    best = (
        ratings.filter(
            review__narrative=OuterRef("review__narrative"),
            criterion=OuterRef("criterion"),
            rejects=False,
        )
        .order_by("place")
        .values("place")[:1]
    )
    apart = (
        ratings.filter(review__narrative=OuterRef("pk"), rejects=True)
        .annotate(apart=F("place") - Subquery(best))
        .filter(apart__isnull=False)
        .order_by("-apart")
        .values("apart")[:1]
    )
    last = (
        Review.objects.submitted()
        .filter(narrative=OuterRef("pk"))
        .order_by("-submitted_at")
        .values("submitted_at")[:1]
    )
    return narratives.annotate(
        distance=Coalesce(Subquery(apart), Value(0)),
        since=since or Subquery(last),
    )


def _key_of_review(row: Any) -> Key:
    return Key(row.distance, row.since, Kind.REVIEW, row.pk, 0)


def _hydrate(keys: list[Key], *, settled: bool) -> list[Item]:
    """Read what the list shows of these keys."""
    narratives = (
        Narrative.objects.select_related("pair__query")
        .defer("text", "pair__query__description")
        .in_bulk([key.narrative for key in keys])
    )
    on_judgments = [key for key in keys if key.kind is Kind.JUDGMENT]
    on_reviews = [key for key in keys if key.kind is Kind.REVIEW]
    candidates = Candidate.objects.select_related("document").in_bulk(
        [key.candidate for key in on_judgments]
    )
    items = {
        key[2:]: Item(key, narratives[key.narrative], candidates.get(key.candidate)) for key in keys
    }
    where = {
        "narrative__in": [key.narrative for key in on_judgments],
        "candidate__in": list(candidates),
    }
    judgments = Judgment.objects.current().of_people().filter(**where)
    for narrative, candidate, name, relevance in judgments.order_by("annotator__name").values_list(
        "narrative", "candidate", "annotator__name", "relevance"
    ):
        if item := items.get((Kind.JUDGMENT, narrative, candidate)):
            item.voices.append(Voice(name, relevance, None))
    reviews = Review.objects.submitted().filter(narrative__in=[key.narrative for key in on_reviews])
    for narrative, name, poor in (
        reviews.annotate(poor=Count("ratings", filter=Q(ratings__rejects=True)))
        .order_by("auditor__name")
        .values_list("narrative", "auditor__name", "poor")
    ):
        items[Kind.REVIEW, narrative, 0].voices.append(Voice(name, None, poor))
    if settled:
        for adjudication in Adjudication.objects.current().filter(**where).select_related("by"):
            if item := items.get(
                (Kind.JUDGMENT, adjudication.narrative_id, adjudication.candidate_id)
            ):
                item.settled = adjudication
        for decision in (
            Decision.objects.current()
            .filter(narrative__in=[key.narrative for key in on_reviews])
            .select_related("by")
        ):
            items[Kind.REVIEW, decision.narrative_id, 0].settled = decision
    return [items[key[2:]] for key in keys]
