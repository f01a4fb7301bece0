"""Counts of the decisions of machines' filters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal, NamedTuple

from django.db.models import Count, Q

from annotate.projects.models import Project
from annotate.topics.models import FilterDecision

About = Literal["queries", "instructions", "documents"]


class FilterCount(NamedTuple):
    """One machine's decisions on queries, instructions or documents."""

    machine: str
    about: About
    kept: int
    discarded: int
    brought_back: Annotated[int, "Of the discarded ones: brought back by a lead."]


def filter_counts(project: Project) -> list[FilterCount]:
    """Count the decisions by machine and what they are about: one query."""
    kinds: dict[About, str] = {"queries": "query", "instructions": "pair", "documents": "candidate"}
    counts = {}
    for about, thing in kinds.items():
        on_it = Q(**{f"{thing}__isnull": False})
        counts[f"{about}_kept"] = Count("pk", filter=on_it & Q(discards=False))
        counts[f"{about}_discarded"] = Count("pk", filter=on_it & Q(discards=True))
        back = on_it & Q(discards=True, **{f"{thing}__removed_at__isnull": True})
        counts[f"{about}_back"] = Count("pk", filter=back)
    rows: Iterable[Any] = (
        FilterDecision.objects.filter(project=project)
        .order_by()
        .values("machine__name")
        .annotate(**counts)
    )
    decisions = [
        FilterCount(
            row["machine__name"],
            about,
            row[f"{about}_kept"],
            row[f"{about}_discarded"],
            row[f"{about}_back"],
        )
        for row in rows
        for about in kinds
    ]
    decisions.sort(key=lambda count: count.machine.encode())
    return [count for count in decisions if count.kept or count.discarded]
