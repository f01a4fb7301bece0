"""Rows of whole projects, to write past the ORM (`benchmarks.bare.insert`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from benchmarks.bare import Table

BY = "2026-01-01 00:00:00+00:00"
SIDES = ("original", "altered")


class Shape(NamedTuple):
    """How large a project is. Its documents are fewer than its candidates if `documents` is set."""

    queries: int
    pool: int
    documents: int | None = None
    text: str = ""

    @property
    def candidates(self) -> int:
        """Return the number of candidates of all queries."""
        return self.queries * self.pool


def pools(project: int, shape: Shape, first: int = 0) -> Iterator[Table]:
    """Yield the documents, queries, pairs, narratives and candidates of a project.

    Every key is larger than `first`: give each project a range of its own.
    """
    documents = shape.documents or shape.candidates
    yield (
        "annotate_document",
        (
            *("id", "project_id", "doc_id", "title", "markup", "digest"),
            *("length", "text_version"),
        ),
        (
            (
                *(first + n + 1, project, f"FBIS{n % 7}-{n}", "", "plain", ""),
                *((len(shape.text), 1) if shape.text else (None, None)),
            )
            for n in range(documents)
        ),
    )
    if shape.text:
        yield (
            "annotate_documenttext",
            ("document_id", "version", "markup", "digest", "length", "created_at", "text"),
            (
                (first + n + 1, 1, "plain", "", len(shape.text), BY, shape.text)
                for n in range(documents)
            ),
        )
    yield (
        "annotate_query",
        ("id", "project_id", "query_id", "title", "description"),
        ((first + n + 1, project, str(n), f"query {n}", "") for n in range(shape.queries)),
    )
    yield (
        "annotate_instructionpair",
        ("id", "project_id", "query_id", "pair_id", "category", "origin", "model"),
        (
            (first + n + 1, project, first + n + 1, str(n), "", "human", "")
            for n in range(shape.queries)
        ),
    )
    yield (
        "annotate_narrative",
        ("id", "pair_id", "side", "version", "text", "note", "created_at", "is_current"),
        (
            (first + 2 * n + place, first + n + 1, side, 1, "Words.", "", BY, True)
            for n in range(shape.queries)
            for place, side in enumerate(SIDES, start=1)
        ),
    )
    yield (
        "annotate_candidate",
        ("id", "query_id", "document_id", "prior_relevance", "origin"),
        (
            (
                first + query * shape.pool + place + 1,
                first + query + 1,
                first + _document(query, place, documents) + 1,
                place % 3,
                "prior",
            )
            for query in range(shape.queries)
            for place in range(shape.pool)
        ),
    )


def _document(query: int, place: int, documents: int) -> int:
    """Return the number of a document of a pool, so that pools overlap and none has it twice."""
    return (query * 7919 + place * 104_729) % documents


def judgments(
    shape: Shape, judges: Sequence[Sequence[int]], last: int, first: int = 0
) -> Iterator[Table]:
    """Yield judgments on the pools of a project.

    `judges`: for each query its members, who judge all of its pool under the altered narrative;
    where there are several, the last one judges only `last` documents.
    """
    yield (
        "annotate_statement",
        (
            *("uuid", "narrative_id", "candidate_id", "annotator_id", "relevance", "flag", "note"),
            *("repeat", "evidence", "clauses", "pressed", "source", "at", "text_version"),
            "active_ms",
        ),
        (
            (
                f"{(first + query * shape.pool + place + 1) * 64 + seat:032x}",
                first + 2 * query + 2,
                first + query * shape.pool + place + 1,
                member,
                # Most documents get one grade from everybody.
                place % 3 if (place + seat) % 20 else 0,
                *("", "", False, "[]", "[]", "key", "page", BY, 1 if shape.text else None),
                4_000,
            )
            for query, members in enumerate(judges)
            for seat, member in enumerate(members)
            for place in range(last if 0 < seat == len(members) - 1 else shape.pool)
        ),
    )
