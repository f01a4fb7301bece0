"""Provenance of candidates: the runs that rank them, and at which rank. Never for blind people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from django.db.models import Prefetch, prefetch_related_objects

from annotate.collection.models import Candidate
from annotate.pools.models import Pool, PoolRun
from annotate.projects.models import Project
from base import bulk
from jobs.models import Job

HEAD = ("query_id", "doc_id", "new", "run", "rank")


class Contribution(NamedTuple):
    """One run of a pool that ranks a document, and its rank."""

    pool: str
    run: str
    rank: int


def contributions(candidates: Iterable[Candidate]) -> dict[int, list[Contribution]]:
    """Map the keys of these candidates of one query to the pools and runs that contributed them.

    Takes two queries. A pool is left out for a document that none of its runs ranks.
    """
    of = list(candidates)
    if not of:
        return {}
    by_document = {candidate.document_id: candidate.pk for candidate in of}
    documents = ", ".join(map(str, by_document))
    rows = bulk.select(
        f"""
        SELECT l.document_id, j.name, r.name, MIN(l.rank)
        FROM annotate_pool p
        JOIN jobs_job j ON j.id = p.job_ptr_id
        JOIN annotate_poolrun pr ON pr.pool_id = j.id
        JOIN annotate_run r ON r.id = pr.run_id
        JOIN annotate_runline l ON l.run_id = r.id AND l.query_id = %(query)s
        JOIN annotate_poolentry e
            ON e.pool_id = j.id AND e.query_id = l.query_id AND e.document_id = l.document_id
        WHERE j.project_id = %(project)s AND p.counts IS NOT NULL
            AND l.document_id IN ({documents})
            AND (p.method NOT IN ('union', 'sample') OR l.rank <= p.depth)
        GROUP BY j.id, l.document_id, j.name, r.name
        ORDER BY j.id, MIN(l.rank), r.name
        """,  # noqa: S608 (numbers alone are put in)
        {"query": of[0].query_id, "project": of[0].query.project_id},
    )
    by_candidate: dict[int, list[Contribution]] = {}
    for document, pool, run, rank in rows:
        by_candidate.setdefault(by_document[document], []).append(Contribution(pool, run, rank))
    return by_candidate


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
    queries = bulk.select(
        f"""
        SELECT DISTINCT e.query_id, q.query_id, {bulk.bytewise("q.query_id")}
        FROM annotate_poolentry e JOIN annotate_query q ON q.id = e.query_id
        WHERE e.pool_id = %(pool)s ORDER BY 3
        """,  # noqa: S608 (our own words)
        {"pool": pool.pk},
    )
    bounded = pool.method in {Pool.Method.UNION, Pool.Method.SAMPLE}
    for key, query_id, _ in queries:
        rows = bulk.select(
            f"""
            SELECT d.doc_id, e.is_new, COALESCE(r.name, ''), MIN(l.rank)
            FROM annotate_poolentry e
            JOIN annotate_document d ON d.id = e.document_id
            LEFT JOIN annotate_runline l ON l.query_id = e.query_id
                AND l.document_id = e.document_id
                AND l.run_id IN (
                    SELECT pr.run_id FROM annotate_poolrun pr WHERE pr.pool_id = e.pool_id
                )
                {"AND l.rank <= %(depth)s" if bounded else ""}
            LEFT JOIN annotate_run r ON r.id = l.run_id
            WHERE e.pool_id = %(pool)s AND e.query_id = %(query)s
            GROUP BY d.doc_id, e.is_new, r.name
            ORDER BY {bulk.bytewise("d.doc_id")}, {bulk.bytewise("r.name")}
            """,  # noqa: S608 (our own words)
            {"pool": pool.pk, "query": key, "depth": pool.depth},
        )
        for doc_id, is_new, run, rank in rows:
            yield query_id, doc_id, bool(is_new), run, rank


def table_rows(pool: Pool) -> Iterator[Sequence[str]]:
    """Yield the header and the rows of the table of a pool's documents."""
    yield HEAD
    for query_id, doc_id, is_new, run, rank in entries(pool):
        yield query_id, doc_id, "yes" if is_new else "no", run, "" if rank is None else str(rank)
