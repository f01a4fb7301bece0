"""The collection: documents, queries, pools, runs, and the files they are loaded from."""

from __future__ import annotations

from annotate.collection.models.documents import (
    Candidate,
    Document,
    DocumentText,
    DocumentTextQuerySet,
    PassageRule,
    Query,
    ReadsText,
)
from annotate.collection.models.loads import Load, LoadedCandidate
from annotate.collection.models.runs import Run, RunLine

__all__ = [
    "Candidate",
    "Document",
    "DocumentText",
    "DocumentTextQuerySet",
    "Load",
    "LoadedCandidate",
    "PassageRule",
    "Query",
    "ReadsText",
    "Run",
    "RunLine",
]
