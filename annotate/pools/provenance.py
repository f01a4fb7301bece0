"""Provenance of candidates: the runs that rank them, and at which rank. Never for blind people."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from django.db.models import Min, Prefetch, prefetch_related_objects

from annotate.collection.models import Candidate, Query, RunLine
from annotate.pools.models import Pool, PoolEntry, PoolRun
from annotate.projects.models import Project
from base.bulk import in_byte_order
from jobs.models import Job

HEAD = ("query_id", "doc_id", "new", "run", "rank")


class Contribution(NamedTuple):
    """One run of a pool that ranks a document, and its rank."""

    pool: str
    run: str
    rank: int


def contributions(candidates: Iterable[Candidate]) -> dict[int, list[Contribution]]:
    """Map the keys of these candidates of one query to the pools and runs that contributed them.

    Takes three queries. A pool is left out for a document that none of its runs ranks.
    """
    by_document = {candidate.document_id: candidate for candidate in candidates}
    if not by_document:
        return {}
    query = next(iter(by_document.values())).query
    of_query = {"query": query, "document__in": by_document}
    lines = RunLine.objects.filter(**of_query, run__project=query.project_id)
    ranks: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for of_run, document, rank in (
        lines.order_by().values_list("run", "document").annotate(rank=Min("rank"))
    ):
        ranks[of_run].append((document, rank))
    chosen = set(PoolEntry.objects.filter(**of_query).values_list("pool", "document"))
    finished = PoolRun.objects.filter(
        pool__project=query.project_id, pool__counts__isnull=False, run__in=ranks
    )
    listed = sorted(
        (pool_run.pool_id, rank, pool_run.run.name, pool_run.pool.name, document)
        for pool_run in finished.select_related("pool", "run")
        for document, rank in ranks[pool_run.run_id]
        if (pool_run.pool_id, document) in chosen and pool_run.pool.reaches(rank)
    )
    by_candidate: dict[int, list[Contribution]] = defaultdict(list)
    for _key, rank, run, pool, document in listed:
        by_candidate[by_document[document].pk].append(Contribution(pool, run, rank))
    return dict(by_candidate)


def finished_pools(project: Project) -> list[Pool]:
    """Return the finished pools, in the order of their keys."""
    return list(
        Pool.objects.filter(project=project, state=Job.State.DONE)
        .select_related("by", "project")
        .order_by("pk")
    )


def with_runs(pools: list[Pool]) -> list[Pool]:
    """Return these pools with `pool_runs` read, in order: one query."""
    runs = PoolRun.objects.select_related("run").order_by("pk")
    prefetch_related_objects(pools, Prefetch("pool_runs", runs))
    return pools


def entries(pool: Pool) -> Iterator[tuple[str, str, bool, str, int | None]]:
    """Yield every document of a pool, once for each run that ranks it.

    A tuple has query_id, doc_id, whether the pool added it, the run's name and its rank; "" and
    None for a document that no run ranks. Ordered by the bytes of ids and names.
    """
    runs = [pool_run.run_id for pool_run in pool.pool_runs.all()]
    queries = Query.objects.filter(pk__in=pool.entries.order_by().values("query"))
    for query in queries.order_by(in_byte_order("query_id")):
        lines = RunLine.objects.filter(run__in=runs, query=query)
        by_document: dict[int, list[tuple[str, int]]] = defaultdict(list)
        for document, run, rank in (
            lines.order_by(in_byte_order("run__name"))
            .values_list("document", "run__name")
            .annotate(rank=Min("rank"))
        ):
            if pool.reaches(rank):
                by_document[document].append((run, rank))
        chosen = pool.entries.filter(query=query).order_by(in_byte_order("document__doc_id"))
        for document, doc_id, is_new in chosen.values_list(
            "document", "document__doc_id", "is_new"
        ):
            ranked = by_document.get(document)
            if ranked is None:
                yield query.query_id, doc_id, is_new, "", None
                continue
            for run, rank in ranked:
                yield query.query_id, doc_id, is_new, run, rank


def table_rows(pool: Pool) -> Iterator[Sequence[str]]:
    """Yield the header and the rows of the table of a pool's documents."""
    yield HEAD
    for query_id, doc_id, is_new, run, rank in entries(pool):
        yield query_id, doc_id, "yes" if is_new else "no", run, "" if rank is None else str(rank)
