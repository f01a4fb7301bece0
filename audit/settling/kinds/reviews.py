"""Disagreements about an instruction that one auditor rejects and another does not."""

from __future__ import annotations

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from audit.reviews.models import Decision, Rating, Review
from audit.settling.kinds.frame import Reader, Source
from audit.settling.queue_filters import DisagreementKey, Kind, Order, QueueFilter


def review_source(
    reader: Reader, filters: QueueFilter, only: DisagreementKey | None, in_any_state: bool
) -> Source:
    """Return the source of review disagreements, open or decided."""
    decided = Decision.objects.current().filter(narrative=OuterRef("pk"))
    # One possible decision is to remove the pair; it can be withdrawn like any other.
    narratives = reader.narratives(filters, only, removed=filters.settled or in_any_state)
    if not in_any_state:
        if reader.to_review:
            mine = Review.objects.submitted().filter(
                narrative=OuterRef("pk"), auditor__in=reader.members
            )
            narratives = narratives.filter(
                ~Q(pair__in=reader.to_review) | Exists(mine) | Q(author__in=reader.members)
            )
        narratives = narratives.filter(Exists(decided) if filters.settled else ~Exists(decided))
    ratings = Rating.objects.of_people().filter(review__submitted_at__isnull=False)
    if filters.criterion:
        ratings = ratings.filter(criterion=filters.criterion)
    of_people = ratings
    if filters.people is not None and not in_any_state:
        of_people = ratings.filter(review__auditor__in=filters.people)
    # Few instructions are rejected: it is quicker to begin with these.
    rejected = of_people.filter(rejects=True).values("review__narrative")
    narratives = narratives.filter(Exists(_contradicted_rejections(of_people)), pk__in=rejected)
    # The largest distance, in levels, between a rejecting and a non-rejecting rating.
    best = _on_same_criterion(ratings).filter(rejects=False).order_by("place").values("place")
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
    since = decided.values("at") if filters.settled else last.values("submitted_at")
    rows = narratives.annotate(
        distance=Coalesce(Subquery(apart[:1]), Value(0)),
        # The decision keeps or drops the instruction with every document relevant under it.
        effect=Value(0 if filters.order is Order.MEASURE else 2),
        since=Subquery(since[:1]),
    )
    return Source(Kind.REVIEW, rows, ("pk",), "pair__project")


def _on_same_criterion(ratings: QuerySet[Rating]) -> QuerySet[Rating]:
    """Return the ratings of the same narrative on the same criterion."""
    return ratings.filter(
        review__narrative=OuterRef("review__narrative"), criterion=OuterRef("criterion")
    )


def _contradicted_rejections(ratings: QuerySet[Rating]) -> QuerySet[Rating]:
    """Return the rejecting ratings of a narrative that another rating contradicts."""
    other = _on_same_criterion(ratings).filter(rejects=False)
    return ratings.filter(Exists(other), review__narrative=OuterRef("pk"), rejects=True)
