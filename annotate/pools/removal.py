"""Documents are taken out of the pools of their queries, as candidates, and brought back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import QuerySet

from annotate.collection.models import Candidate
from annotate.collection.removal import Removable, batches, distinct
from annotate.pairs.models import Assignment
from annotate.projects.audit_log import name_documents
from annotate.projects.models import Project
from base.errors import Refused


def reopen_judging(queries: Iterable[int] | QuerySet[Any]) -> None:
    """Reopen judging of these queries, because their pools have grown or changed."""
    Assignment.objects.filter(
        pair__query__in=queries, task=Assignment.Task.JUDGE, done_at__isnull=False
    ).update(done_at=None)


class _Documents(Removable):
    event = "candidates"
    noun, nouns = "document", "documents"
    # As everything else about pools: what is missing there tells something about relevance.
    refused_while_blind = True

    def rows(self, project: Project) -> QuerySet[Candidate]:
        return Candidate.with_removed.filter(query__project=project)

    def keys_of(self, project: Project, ids: Iterable[tuple[str, str]]) -> list[int]:
        """Return the keys of the candidates with these ids (query_id, doc_id).

        Refused: a pair of ids without a candidate; the message names the first.
        """
        unique_ids = distinct(ids)
        keys: dict[tuple[str, str], int] = {}
        for part in batches(unique_ids):
            rows = self.rows(project).filter(
                query__query_id__in={query_id for query_id, _doc in part},
                document__doc_id__in={doc_id for _query, doc_id in part},
            )
            for pk, query_id, doc_id in rows.values_list(
                "pk", "query__query_id", "document__doc_id"
            ):
                keys[query_id, doc_id] = pk
        for query_id, doc_id in unique_ids:
            if (query_id, doc_id) not in keys:
                raise Refused(
                    f"Document {doc_id[:100]} is not a candidate of query {query_id[:100]}."
                )
        return [keys[candidate] for candidate in unique_ids]

    def name_in_log(self, changed: int, rows: QuerySet[Candidate], keys: Sequence[int]) -> str:
        """Return the audit log's name of the documents, with the ids of their first queries."""
        chosen = rows.filter(pk__in=keys[:500]).order_by("query")
        ids = list(chosen.values_list("query__query_id", flat=True).distinct()[:4])
        return name_documents(changed, ", ".join(ids[:3]) + (" …" if len(ids) > 3 else ""))

    def before_restoring(self, back: QuerySet[Candidate]) -> None:
        """Reopen judging of these queries."""
        reopen_judging(list(back.values_list("query_id", flat=True).distinct()))


DOCUMENTS = _Documents()
