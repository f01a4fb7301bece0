"""Filters shared by the disagreement queries: between two people, still open, settled."""

from __future__ import annotations

from typing import Any

from django.db.models import (
    BooleanField,
    Case,
    Count,
    Exists,
    F,
    Max,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)

from annotate.judgments.blindness import exclude_unjudged
from annotate.judgments.models import RejudgeRequest
from annotate.pairs.models import Narrative
from audit.settling.kinds.frame import Reader
from audit.settling.queue_filters import QueueFilter


def keep_to_settle(
    grouped: Any,
    reader: Reader,
    filters: QueueFilter,
    settled: QuerySet[Any, Any],
    field: str,
    prefix: str = "",
) -> Any:
    """Keep the groups that the reader may settle: without a current decision (`settled`), answered
    differently (in `field`) by the people of the filter, and judged by the reader if they must.
    """
    person, narrative = f"{prefix}annotator", f"{prefix}narrative"
    if filters.people is not None:
        grouped = _keep_differing(grouped, field, person, filters.people)
    grouped = _keep_open(
        grouped, reader, filters, settled, f"{narrative}_id", f"{prefix}candidate_id"
    )
    if not reader.to_judge:
        return grouped
    mine = Count(person, filter=Q(**{f"{person}__in": reader.members}))
    unjudged = Narrative.objects.filter(pair__in=reader.to_judge).values("pk")
    return grouped.annotate(mine=mine).filter(Q(mine__gt=0) | ~Q(**{f"{narrative}__in": unjudged}))


def _keep_differing(grouped: Any, field: str, person: str, people: tuple[int, int]) -> Any:
    """Keep the groups that these two people answered differently."""
    first, second = people
    return grouped.annotate(
        first=Max(field, filter=Q(**{person: first})),
        second=Max(field, filter=Q(**{person: second})),
    ).filter(Q(first__gt=F("second")) | Q(first__lt=F("second")))


class GroupExists(Exists):
    """An EXISTS for a group, by its grouping columns: evaluated once per group that is found to
    differ, not for each of its rows.
    """

    def get_group_by_cols(self) -> list[Any]:
        """Return no columns: those it refers to are grouped by already."""
        return []


class GroupSubquery(Subquery):
    """A subquery for a value of a group, by its grouping columns, like `GroupExists`."""

    def get_group_by_cols(self) -> list[Any]:
        """Return no columns: those it refers to are grouped by already."""
        return []


def _keep_open(
    grouped: Any,
    reader: Reader,
    filters: QueueFilter,
    settled: QuerySet[Any, Any],
    narrative: str,
    candidate: str,
) -> Any:
    """Keep the groups without a current decision: those sent back to an annotator if
    `filters.waiting`, else the others.

    The subqueries are wrapped in a Case; without it the database evaluates them before grouping.
    """
    several = Q(people__gt=1)
    grouped = grouped.annotate(is_settled=_case(several, GroupExists(settled))).filter(
        is_settled=False
    )
    if not reader.anything_sent_back:
        return grouped.none() if filters.waiting else grouped
    sent_back = RejudgeRequest.objects.open().filter(by__project__in=reader.projects)
    of_group = sent_back.filter(
        judgment__narrative=OuterRef(narrative), judgment__candidate=OuterRef(candidate)
    )
    # Few documents were sent back: a list that is computed once rules out all others.
    among = Q(**{f"{candidate}__in": sent_back.values("judgment__candidate")})
    return grouped.annotate(is_waiting=_case(several & among, GroupExists(of_group))).filter(
        is_waiting=filters.waiting
    )


def _case(when: Q, then: Exists) -> Case:
    return Case(When(when, then=then), default=Value(value=False), output_field=BooleanField())


def settled_rows(
    rows: QuerySet[Any, Any],
    reader: Reader,
    pair: str,
    answers: QuerySet[Any, Any],
    filters: QueueFilter,
    field: str,
    prefix: str = "",
) -> QuerySet[Any, Any]:
    """Return the current decisions that the reader may see, with their times; `answers`: people's
    answers to the same question.
    """
    if filters.cause:
        rows = rows.filter(cause=filters.cause)
    mine = answers.filter(**{f"{prefix}annotator": reader.member})
    rows = exclude_unjudged(rows, reader.to_judge, pair, mine)
    if filters.people is not None:
        first, second = (
            Subquery(answers.filter(**{f"{prefix}annotator": person}).values(field)[:1])
            for person in filters.people
        )
        rows = rows.annotate(first=first, second=second).filter(
            Q(first__gt=F("second")) | Q(first__lt=F("second"))
        )
    dated: QuerySet[Any, Any] = rows.annotate(distance=Value(0), effect=Value(0), since=F("at"))
    return dated
