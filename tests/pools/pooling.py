"""Runs of a small project, so that pools can be counted by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.core.files.base import ContentFile

from annotate.models import Document, Pool, Project, Query, Run, RunLine
from annotate.pools import actions
from jobs.runner import run

# For each query the documents of two systems, best first.
ANCE = {"301": ["A", "B", "C", "D"], "302": ["X", "Y"]}
BM25 = {"301": ["B", "E", "A", "F"], "302": ["Z", "X"]}


def add_run(project: Project, name: str, ranking: Mapping[str, Sequence[str]]) -> Run:
    """Store a run over queries, and create its missing documents and queries."""
    made = Run.objects.create(
        project=project, name=name, tag=name.removesuffix(".run"), sha256=name.ljust(64, "0")
    )
    made.file.save(f"tests/{name}", ContentFile(b""), save=True)
    lines = []
    for query_id, documents in ranking.items():
        query, _ = Query.objects.get_or_create(project=project, query_id=query_id)
        for rank, doc_id in enumerate(documents, 1):
            document, _ = Document.objects.get_or_create(project=project, doc_id=doc_id)
            lines.append(
                RunLine(
                    run=made,
                    query=query,
                    document=document,
                    rank=rank,
                    score=1.0 / rank,
                )
            )
    RunLine.objects.bulk_create(lines)
    return made


def two_runs(project: Project) -> list[str]:
    """Store the runs of the two systems above; return their names."""
    return [add_run(project, "ance.run", ANCE).name, add_run(project, "bm25.run", BM25).name]


def make(project: Project, name: str = "first", **rule: Any) -> Pool:
    """Make a pool at once, as the command does."""
    recipe = actions.recipe_of(project=project, **{"method": "union", **rule})
    pool = actions.request_pool(recipe=recipe, name=name, by=None)
    run(pool.pk)
    pool.refresh_from_db()
    return pool
