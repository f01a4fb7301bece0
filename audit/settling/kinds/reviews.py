"""Instructions that one auditor rejects and another does not."""

from __future__ import annotations

from django.db.models import (
    Exists,
    F,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
)
from django.db.models.functions import Coalesce

from audit.reviews.models import Decision, Rating, Review
from audit.settling.kinds.frame import Reader, Source
from audit.settling.queue_filters import DisagreementKey, Kind, Order, Wanted


def reviews(
    reader: Reader, wanted: Wanted, only: DisagreementKey | None, in_any_state: bool
) -> Source:
    """Return the narratives that some auditors reject and others do not, or that were decided."""
    decided = Decision.objects.current().filter(narrative=OuterRef("pk"))
    # One way to settle is to remove the pair, which can be taken back like any other.
    found = reader.narratives(wanted, only, removed=wanted.settled or in_any_state)
    if not in_any_state:
        if reader.to_review:
            mine = Review.objects.submitted().filter(
                narrative=OuterRef("pk"), auditor__in=reader.members
            )
            found = found.filter(
                ~Q(pair__in=reader.to_review) | Exists(mine) | Q(author__in=reader.members)
            )
        found = found.filter(Exists(decided) if wanted.settled else ~Exists(decided))
    ratings = Rating.objects.of_people().filter(review__submitted_at__isnull=False)
    if wanted.criterion:
        ratings = ratings.filter(criterion=wanted.criterion)
    of_people = ratings
    if wanted.people is not None and not in_any_state:
        of_people = ratings.filter(review__auditor__in=wanted.people)
    # Few instructions are rejected: it is quicker to begin with these.
    rejected = of_people.filter(rejects=True).values("review__narrative")
    found = found.filter(Exists(_straddling(of_people)), pk__in=rejected)
    # How many levels apart they are at most where they straddle.
    best = _on_the_same(ratings).filter(rejects=False).order_by("place").values("place")
    apart = (
        ratings.filter(review__narrative=OuterRef("pk"), rejects=True)
        .annotate(apart=F("place") - Subquery(best[:1]))
        .filter(apart__isnull=False)
        .order_by("-apart")
        .values("apart")
    )
    last = (
        Review.objects.submitted()
        .of_people()
        .filter(narrative=OuterRef("pk"))
        .order_by("-submitted_at")
    )
    since = decided.values("at") if wanted.settled else last.values("submitted_at")
    rows = found.annotate(
        distance=Coalesce(Subquery(apart[:1]), Value(0)),
        # Whether the instruction is kept at all, with every document relevant under it.
        effect=Value(0 if wanted.order is Order.MEASURE else 2),
        since=Subquery(since[:1]),
    )
    return Source(Kind.REVIEW, rows, ("pk",))


def _on_the_same(ratings: QuerySet[Rating]) -> QuerySet[Rating]:
    """What others said of the same narrative on the same criterion."""
    return ratings.filter(
        review__narrative=OuterRef("review__narrative"), criterion=OuterRef("criterion")
    )


def _straddling(ratings: QuerySet[Rating]) -> QuerySet[Rating]:
    """The rejecting answers of a narrative beside which another does not reject."""
    other = _on_the_same(ratings).filter(rejects=False)
    return ratings.filter(Exists(other), review__narrative=OuterRef("pk"), rejects=True)
