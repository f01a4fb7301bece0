"""Take queries and instructions out of a project, with a reason, and bring them back.

Nobody works on what is taken out, and it is not in qrels; judgments and texts are kept. Taking out
a query takes out all of its instructions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from annotate.collection.models import Query
from annotate.collection.removal import (
    NOT_REMOVED,
    ChangeCounts,
    batches,
    distinct,
    lock_for_removal,
    removal_fields,
)
from annotate.pairs.models import InstructionPair
from annotate.projects.audit_log import record
from annotate.projects.models import Membership, Project
from base.errors import Refused

# The maximum number of ids named in an audit event.
_NAMED = 3


def query_keys(project: Project, ids: Iterable[str]) -> list[int]:
    """Return the keys of the queries with these ids. Refused: an unknown id."""
    return _keys_of(Query.objects.filter(project=project), "query_id", ids, "query")


def pair_keys(project: Project, ids: Iterable[str]) -> list[int]:
    """Return the keys of the pairs with these ids. Refused: an unknown id."""
    found = InstructionPair.objects.filter(project=project)
    return _keys_of(found, "pair_id", ids, "instruction pair")


def remove_queries(
    *,
    project: Project,
    queries: Sequence[int],
    reason: str,
    by: Membership | None,
    now: datetime | None = None,
) -> ChangeCounts:
    """Take queries out, with all of their instructions. One already taken out keeps its reason.

    Refused: a person who is not a lead, an archived project, no reason, a query that is not in this
    project.
    """
    fields = removal_fields(reason, by, now)
    with transaction.atomic():
        rows = Query.objects.filter(project=project)
        keys = lock_for_removal(project, rows, queries, by)
        changed = 0
        for part in batches(keys):
            there = list(
                rows.filter(pk__in=part, removed_at__isnull=True).values_list("pk", flat=True)
            )
            changed += rows.filter(pk__in=there).update(**fields)
            InstructionPair.objects.filter(query__in=there, removed_at__isnull=True).update(
                **fields
            )
        if changed:
            about = _about(changed, "query", "queries", rows, keys, "query_id")
            record(
                project=project,
                what="queries.removed",
                about=about,
                words=fields["removed_reason"],
                by=by,
                now=now,
            )
    return ChangeCounts(changed, len(keys) - changed)


def restore_queries(
    *,
    project: Project,
    queries: Sequence[int],
    by: Membership | None,
    now: datetime | None = None,
) -> ChangeCounts:
    """Bring queries back, with the instructions that were taken out with them.

    Refused: a person who is not a lead, an archived project, a query that is not in this project.
    """
    with transaction.atomic():
        rows = Query.objects.filter(project=project)
        keys = lock_for_removal(project, rows, queries, by)
        changed = 0
        for part in batches(keys):
            for query in rows.filter(pk__in=part, removed_at__isnull=False):
                InstructionPair.objects.filter(
                    query=query, removed_at=query.removed_at, removed_reason=query.removed_reason
                ).update(**NOT_REMOVED)
                changed += rows.filter(pk=query.pk).update(**NOT_REMOVED)
        if changed:
            about = _about(changed, "query", "queries", rows, keys, "query_id")
            record(project=project, what="queries.restored", about=about, by=by, now=now)
    return ChangeCounts(changed, len(keys) - changed)


def remove_pairs(
    *,
    project: Project,
    pairs: Sequence[int],
    reason: str,
    by: Membership | None,
    now: datetime | None = None,
) -> ChangeCounts:
    """Take instructions out. One already taken out keeps its reason.

    Refused: a person who is not a lead, an archived project, no reason, a pair that is not in this
    project.
    """
    fields = removal_fields(reason, by, now)
    with transaction.atomic():
        rows = InstructionPair.objects.filter(project=project)
        keys = lock_for_removal(project, rows, pairs, by)
        changed = 0
        for part in batches(keys):
            changed += rows.filter(pk__in=part, removed_at__isnull=True).update(**fields)
        if changed:
            about = _about(changed, "instruction", "instructions", rows, keys, "pair_id")
            record(
                project=project,
                what="pairs.removed",
                about=about,
                words=fields["removed_reason"],
                by=by,
                now=now,
            )
    return ChangeCounts(changed, len(keys) - changed)


def restore_pairs(
    *,
    project: Project,
    pairs: Sequence[int],
    by: Membership | None,
    now: datetime | None = None,
) -> ChangeCounts:
    """Bring instructions back.

    Refused: a person who is not a lead, an archived project, a pair that is not in this project, an
    instruction whose query is taken out, and one that a decision on its reviews removed.
    """
    with transaction.atomic():
        rows = InstructionPair.objects.filter(project=project)
        keys = lock_for_removal(project, rows, pairs, by)
        changed = 0
        for part in batches(keys):
            there = rows.filter(pk__in=part, removed_at__isnull=False)
            if of_query := there.filter(query__removed_at__isnull=False).first():
                raise Refused(
                    f"Instruction {of_query.pair_id} is taken out with its query. Bring the "
                    "query back."
                )
            if decided := there.filter(removed_reason="").first():
                raise Refused(
                    f"Instruction {decided.pair_id} was removed by a decision on its "
                    "reviews. Withdraw the decision there."
                )
            changed += there.update(**NOT_REMOVED)
        if changed:
            about = _about(changed, "instruction", "instructions", rows, keys, "pair_id")
            record(project=project, what="pairs.restored", about=about, by=by, now=now)
    return ChangeCounts(changed, len(keys) - changed)


def removed_queries(project: Project) -> QuerySet[Query]:
    """Return the queries of a project that are taken out."""
    return Query.objects.filter(project=project, removed_at__isnull=False)


def removed_pairs(project: Project) -> QuerySet[InstructionPair]:
    """Return the instructions that were taken out individually.

    Their query is not taken out, and they were not removed by a decision on their reviews.
    """
    return InstructionPair.objects.filter(
        project=project, removed_at__isnull=False, query__removed_at__isnull=True
    ).exclude(removed_reason="")


def _keys_of(rows: QuerySet[Any], field: str, ids: Iterable[str], noun: str) -> list[int]:
    unique_ids = distinct(ids)
    found: dict[str, int] = {}
    for part in batches(unique_ids):
        found |= dict(rows.filter(**{f"{field}__in": part}).values_list(field, "pk"))
    for one in unique_ids:
        if one not in found:
            raise Refused(f"There is no {noun} {one[:100]} in this project.")
    return [found[one] for one in unique_ids]


def _about(
    changed: int, one: str, several: str, rows: QuerySet[Any], keys: list[int], field: str
) -> str:
    """Return the audit log's name of the changed rows: "3 queries · 301, 302 …"."""
    ids = [row[0] for row in rows.filter(pk__in=keys[: _NAMED + 1]).values_list(field)]
    rest = " …" if len(ids) > _NAMED else ""
    return f"{changed} {one if changed == 1 else several} · {', '.join(ids[:_NAMED])}{rest}"
