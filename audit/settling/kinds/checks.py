"""Disagreements about a claimed label between its first two checkers."""

from __future__ import annotations

from typing import Any

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Abs, Coalesce, Concat, Greatest

from annotate.judgments.in_force import in_pools
from audit.checks.models import Check
from audit.settling.kinds.frame import Reader, Source
from audit.settling.queue_filters import DisagreementKey, Kind, QueueFilter


def check_source(
    reader: Reader, filters: QueueFilter, only: DisagreementKey | None, in_any_state: bool
) -> Source:
    """Return the source of check disagreements, open or settled by a third person."""
    ids = ("item__narrative_id", "item__candidate_id", "item_id")
    place = Check.SETTLES if filters.settled else 1
    rows: QuerySet[Any, Any] = Check.objects.current().filter(
        in_pools("item__candidate"), place=place, item__sample__project__in=reader.projects
    )
    if only is not None:
        rows = rows.filter(item=only.part)
    if filters.query is not None:
        rows = rows.filter(item__narrative__pair__query=filters.query)
    answers = Check.objects.current().filter(item=OuterRef("item_id"))
    if filters.people is not None and not in_any_state:
        both = answers.filter(checker__in=filters.people)
        rows = rows.filter(Exists(both.filter(place=1)), Exists(both.filter(place=2)))
    first_two = answers.exclude(place=Check.SETTLES)
    rows = rows.filter(*(Exists(first_two.filter(relevance=grade)) for grade in filters.grades))
    if filters.settled:
        rows = rows.annotate(distance=Value(0), effect=Value(0), since=F("at"))
        return Source(Kind.CHECK, rows, ids, "item__sample__project")
    second = answers.filter(place=2)
    rows = rows.annotate(
        second=Subquery(second.values("relevance")[:1]),
        second_at=Subquery(second.values("at")[:1]),
        second_cannot=Subquery(second.values("cannot_judge")[:1]),
        answers=_join_answers(),
        second_answers=Subquery(second.annotate(both=_join_answers()).values("both")[:1]),
    ).filter(
        Q(second__lt=F("relevance"))
        | Q(second__gt=F("relevance"))
        # Different answers may lead to the same grade.
        | Q(second_answers__lt=F("answers"))
        | Q(second_answers__gt=F("answers"))
        | Q(cannot_judge=True, second_at__isnull=False)
        | Q(second_cannot=True)
    )
    if not in_any_state:
        # A third person settles: not one who has checked the label.
        rows = rows.filter(~Exists(answers.filter(place=Check.SETTLES))).exclude(
            Exists(answers.filter(checker__in=reader.members))
        )
    rows = rows.annotate(
        # "Cannot judge" has no place on the scale and counts as one step from any grade.
        distance=Greatest(Coalesce(Abs(F("relevance") - F("second")), 1), 1),
        effect=Value(0),
        since=Greatest("at", "second_at"),
    )
    return Source(Kind.CHECK, rows, ids, "item__sample__project")


def _join_answers() -> Concat:
    """Join the answers to the two questions: "yesno", or "" if they are not asked."""
    return Concat("on_topic", "meets_constraint")
