"""Answers grouped by what they are about: who differs, what is open, what is settled."""

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
from annotate.judgments.models import (
    RejudgeRequest,
)
from annotate.pairs.models import Narrative
from audit.settling.kinds.frame import Reader
from audit.settling.queue_filters import Wanted


def apart(grouped: Any, field: str, person: str, people: tuple[int, int]) -> Any:
    """Keep what these two people answered differently."""
    first, second = people
    return grouped.annotate(
        first=Max(field, filter=Q(**{person: first})),
        second=Max(field, filter=Q(**{person: second})),
    ).filter(Q(first__gt=F("second")) | Q(first__lt=F("second")))


class OfGroup(Exists):
    """Whether there is a row for a group, by the columns that it is grouped by: looked for once a
    group is found to differ, not for every row of it.
    """

    def get_group_by_cols(self) -> list[Any]:
        """Nothing more to group by: what it looks at is grouped by already."""
        return []


class ValueOfGroup(Subquery):
    """A value for a group, by the columns that it is grouped by, as `OfGroup`."""

    def get_group_by_cols(self) -> list[Any]:
        """Nothing more to group by: what it looks at is grouped by already."""
        return []


def still_open(
    grouped: Any,
    reader: Reader,
    wanted: Wanted,
    settled: QuerySet[Any, Any],
    narrative: str,
    candidate: str,
) -> Any:
    """Keep what has no decision that stands, and waits for an answer that was sent back, or not.

    What is asked of a group stands within a Case: the database would else ask before it groups.
    """
    several = Q(people__gt=1)
    grouped = grouped.annotate(is_settled=_case(several, OfGroup(settled))).filter(is_settled=False)
    if not reader.anything_sent_back:
        return grouped.none() if wanted.waiting else grouped
    sent_back = RejudgeRequest.objects.open().filter(by__project__in=reader.projects)
    of_group = sent_back.filter(
        judgment__narrative=OuterRef(narrative), judgment__candidate=OuterRef(candidate)
    )
    # Few documents are among them: the others are told apart by a list that is made once.
    among = Q(**{f"{candidate}__in": sent_back.values("judgment__candidate")})
    return grouped.annotate(is_waiting=_case(several & among, OfGroup(of_group))).filter(
        is_waiting=wanted.waiting
    )


def _case(when: Q, then: Exists) -> Case:
    return Case(When(when, then=then), default=Value(value=False), output_field=BooleanField())


def count_of_reader(person: str, reader: Reader) -> Count:
    """Count the reader's own answers in a group."""
    return Count(person, filter=Q(**{f"{person}__in": reader.members}))


def of_pairs(pairs: list[int]) -> QuerySet[Narrative, Any]:
    """Return the narratives of these pairs, to be compared with a column."""
    return Narrative.objects.filter(pair__in=pairs).values("pk")


def settled_rows(
    rows: QuerySet[Any, Any],
    reader: Reader,
    pair: str,
    said: QuerySet[Any, Any],
    wanted: Wanted,
    field: str,
    prefix: str = "",
) -> QuerySet[Any, Any]:
    """Decisions that stand, with the moment of each; `said` is what people said of the same."""
    mine = said.filter(**{f"{prefix}annotator": reader.member})
    rows = exclude_unjudged(rows, reader.to_judge, pair, mine)
    if wanted.people is not None:
        first, second = (
            Subquery(said.filter(**{f"{prefix}annotator": one}).values(field)[:1])
            for one in wanted.people
        )
        rows = rows.annotate(first=first, second=second).filter(
            Q(first__gt=F("second")) | Q(first__lt=F("second"))
        )
    found: QuerySet[Any, Any] = rows.annotate(distance=Value(0), effect=Value(0), since=F("at"))
    return found
