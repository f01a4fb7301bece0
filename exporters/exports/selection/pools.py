"""Pools in exports: their runs and rules, candidates taken out, and hard negatives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from annotate.collection.models import RunLine
from annotate.pools.actions import hard_negative_systems
from annotate.pools.provenance import HEAD, entries, finished_pools, with_runs
from annotate.pools.removal import DOCUMENTS
from annotate.projects.models import Project
from base.bulk import in_byte_order
from exporters.exports.files import Writer, write_row
from exporters.exports.selection import selection
from exporters.exports.selection.ordered_rows import BATCH, batches, stream_rows
from exporters.exports.selection.selection import Pair

NEGATIVES = "hard_negatives.tsv"
POOL_DOCUMENTS = "pool_documents.tsv"


def pool_facts(project: Project) -> list[dict[str, Any]]:
    """Return the pools of a project in the order in which they were made."""
    return [
        {
            "name": pool.name,
            "method": pool.method,
            "depth": pool.depth,
            "strata": pool.strata_words,
            "seed": pool.seed,
            "runs": [
                {"run": r.run.name, "system": r.system, "sha256": r.sha256}
                for r in pool.pool_runs.all()
            ],
            "documents": (pool.counts or {})["documents"],
            "new": (pool.counts or {})["new"],
        }
        for pool in with_runs(finished_pools(project))
    ]


def removed_facts(project: Project) -> list[dict[str, Any]]:
    """Return the candidates taken out of the pools, in byte order of the ids."""
    rows = DOCUMENTS.removed(project).order_by(
        in_byte_order("query__query_id"), in_byte_order("document__doc_id")
    )
    return [
        {"query_id": query_id, "doc_id": doc_id, "reason": reason}
        for query_id, doc_id, reason in stream_rows(
            rows, "query__query_id", "document__doc_id", "removed_reason"
        )
    ]


def negative_facts(project: Project) -> dict[str, Any] | None:
    """Return the systems of the hard negatives; None if there is no such file."""
    systems = hard_negative_systems(project)
    if not systems.runs:
        return None
    return {
        "depth": systems.depth,
        "systems": [
            {"run": run.name, "system": run.tag, "sha256": run.sha256} for run in systems.runs
        ],
    }


def write_pool_documents(project: Project, into: Writer) -> None:
    """Write the documents of every pool, if any, with the runs and ranks that contributed them."""
    pools = finished_pools(project)
    if not pools:
        return
    with into.file(POOL_DOCUMENTS, "The documents of pools, with the runs that rank each.") as f:
        write_row(f, "pool", *HEAD)
        for pool in pools:
            for query_id, doc_id, is_new, run, rank in entries(pool):
                write_row(f, pool.name, query_id, doc_id, "yes" if is_new else "no", run, rank)


def write_negatives(project: Project, into: Writer, pairs: list[Pair]) -> None:
    """Write the hard negatives of the project's chosen systems, if any.

    A document that nobody has judged is not a hard negative.
    """
    if not hard_negative_systems(project).runs:
        return
    with into.file(NEGATIVES, "Documents judged not relevant that systems rank at the top.") as f:
        write_row(f, "side", "topic", "doc_id", "relevance", "run", "rank")
        for negative in _negatives(project, pairs):
            write_row(f, *negative)


def _negatives(project: Project, pairs: list[Pair]) -> Iterator[tuple[object, ...]]:
    """Yield rows of the file by side, topic id and document id, then by the run's name."""
    relevant_from = project.relevant_from
    for queries in batches(selection.queries(project), BATCH):
        ranks = _ranks(project, "query", [query.pk for query in queries])
        keys = {query.query_id: query.pk for query in queries}
        for line in selection.prior_qrels(queries):
            if line.relevance < relevant_from:
                for run, rank in ranks.get((keys[line.query_id], line.doc_id), ()):
                    yield "original", line.query_id, line.doc_id, line.relevance, run, rank
    for side in ("altered", "reversed"):
        for batch in batches(selection.written_pairs(pairs, side), BATCH):
            ranks = _ranks(project, "pair", [pair.pk for pair in batch], side)
            for pair, pool in selection.pooled_documents(project, batch, side):
                for document in pool:
                    grade, doc_id = document.relevance_on(side), document.doc_id
                    if grade is not None and grade < relevant_from:
                        for run, rank in ranks.get((pair.pk, doc_id), ()):
                            yield side, pair.pair_id, doc_id, grade, run, rank


def _ranks(
    project: Project, by: str, keys: list[int], side: str = "original"
) -> dict[tuple[int, str], list[tuple[str, int]]]:
    """Return the ranks of documents in the chosen systems' runs, by topic and doc_id."""
    systems = hard_negative_systems(project)
    runs = [run for run in systems.runs if run.side == side]
    if not runs:
        return {}
    rows = RunLine.objects.filter(
        run__in=runs, rank__lte=systems.depth, **{f"{by}__in": keys}
    ).order_by(in_byte_order("run__name"))
    ranks: dict[tuple[int, str], list[tuple[str, int]]] = {}
    for topic, doc_id, run, rank in stream_rows(rows, by, "document__doc_id", "run__name", "rank"):
        ranks.setdefault((topic, doc_id), []).append((run, rank))
    return ranks
