"""Counts and records of the decisions of machines' filters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from django.db.models import Count, Q

from annotate.projects.models import Project
from annotate.topics.models import FilterDecision
from formats.records import FilterRecord


class FilterCount(NamedTuple):
    """One machine's decisions on queries, instructions or documents."""

    machine: str
    about: str
    kept: int
    discarded: int
    # Those of `discarded` that a lead brought back.
    brought_back: int


def filter_counts(project: Project) -> list[FilterCount]:
    """Count the decisions by machine and what they are about: one query."""
    kinds = {"queries": "query", "instructions": "pair", "documents": "candidate"}
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
    found = [
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
    found.sort(key=lambda one: one.machine.encode())
    return [one for one in found if one.kept or one.discarded]


def filter_records(project: Project) -> Iterator[FilterRecord]:
    """Yield every decision as a file record, in the order of arrival."""
    rows = FilterDecision.objects.filter(project=project).order_by("pk")
    for machine, discards, reason, query, pair, of_pair, doc_id, of_candidate in rows.values_list(
        "machine__name",
        "discards",
        "reason",
        "query__query_id",
        "pair__pair_id",
        "pair__query__query_id",
        "candidate__document__doc_id",
        "candidate__query__query_id",
    ).iterator(1_000):
        yield FilterRecord(
            query_id=query or of_pair or of_candidate,
            machine=machine,
            decision="discard" if discards else "keep",
            reason=reason,
            doc_id=doc_id,
            pair_id=pair,
        )
