"""Take candidates out of their pools, with a reason, and bring them back.

Candidates that were taken out are not judged and in no qrels; answers about them are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from annotate.collection.models import Candidate, Query
from annotate.collection.removal import (
    MOST,
    NOT_REMOVED,
    ChangeCounts,
    batches,
    distinct,
    lock_for_removal,
    parse_keys,
    removal_fields,
)
from annotate.pairs.models import Assignment
from annotate.projects.audit_log import name_documents, record
from annotate.projects.models import Membership, Project
from base.errors import Refused


def candidate_keys(project: Project, ids: Iterable[tuple[str, str]]) -> list[int]:
    """Return the keys of the candidates with these ids (query_id, doc_id).

    Refused: a pair of ids without a candidate; the message names the first.
    """
    wanted = distinct(ids)
    found: dict[tuple[str, str], int] = {}
    for part in batches(wanted):
        rows = Candidate.with_removed.filter(
            query__project=project,
            query__query_id__in={query_id for query_id, _doc in part},
            document__doc_id__in={doc_id for _query, doc_id in part},
        )
        for pk, *ids_of in rows.values_list("pk", "query__query_id", "document__doc_id"):
            found[ids_of[0], ids_of[1]] = pk
    for query_id, doc_id in wanted:
        if (query_id, doc_id) not in found:
            raise Refused(f"Document {doc_id[:100]} is not a candidate of query {query_id[:100]}.")
    return [found[one] for one in wanted]


def keys_of_query(words: Iterable[str], query: Query) -> list[int]:
    """Parse the keys of candidates that the page of their query sends.

    Refused: anything that is not a key, or the key of another query's candidate.
    """
    keys = parse_keys(words)
    candidates = Candidate.with_removed.filter(query=query, pk__in=keys[:MOST])
    if candidates.count() != len(set(keys)):
        raise Refused("One of the documents does not belong to this query. Reload the page.")
    return keys


def remove_candidates(
    *,
    project: Project,
    candidates: Sequence[int],
    reason: str,
    by: Membership | None,
    now: datetime | None = None,
) -> ChangeCounts:
    """Take candidates out of their pools. One that is already out keeps its reason.

    Refused: a member who is not a lead, an archived project, no reason, a key that is not a
    candidate of the project.
    """
    fields = removal_fields(reason, by, now)
    with transaction.atomic():
        rows = Candidate.with_removed.filter(query__project=project)
        keys = lock_for_removal(project, rows, candidates, by)
        changed = 0
        for part in batches(keys):
            changed += rows.filter(pk__in=part, removed_at__isnull=True).update(**fields)
        if changed:
            record(
                project=project,
                what="candidates.removed",
                about=name_documents(changed, _queries_of(keys)),
                words=fields["removed_reason"],
                by=by,
                now=now,
            )
    return ChangeCounts(changed, len(keys) - changed)


def restore_candidates(
    *,
    project: Project,
    candidates: Sequence[int],
    by: Membership | None,
    now: datetime | None = None,
) -> ChangeCounts:
    """Bring candidates back into their pools; people's answers about them count again.

    Refused: a member who is not a lead, an archived project, a key that is not a candidate of the
    project.
    """
    with transaction.atomic():
        rows = Candidate.with_removed.filter(query__project=project)
        keys = lock_for_removal(project, rows, candidates, by)
        changed = 0
        for part in batches(keys):
            back = rows.filter(pk__in=part, removed_at__isnull=False)
            # Reopen judging of these queries.
            queries = list(back.values_list("query_id", flat=True).distinct())
            Assignment.objects.filter(
                pair__query__in=queries, task=Assignment.Task.JUDGE, done_at__isnull=False
            ).update(done_at=None)
            changed += back.update(**NOT_REMOVED)
        if changed:
            record(
                project=project,
                what="candidates.restored",
                about=name_documents(changed, _queries_of(keys)),
                by=by,
                now=now,
            )
    return ChangeCounts(changed, len(keys) - changed)


def removed_candidates(project: Project) -> QuerySet[Candidate]:
    """Return the candidates of a project that were taken out of their pools."""
    return Candidate.with_removed.filter(query__project=project, removed_at__isnull=False)


def _queries_of(keys: list[int]) -> str:
    """Return the ids of the first queries of these candidates, as a list in words."""
    rows = Candidate.with_removed.filter(pk__in=keys[:500])
    ids = list(rows.order_by("query").values_list("query__query_id", flat=True).distinct()[:4])
    return ", ".join(ids[:3]) + (" …" if len(ids) > 3 else "")
