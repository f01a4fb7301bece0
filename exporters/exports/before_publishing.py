"""What to look at before a project is published: its texts, grades and queries, by kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from annotate.collection.models import Candidate, Document
from annotate.pairs.models import Narrative
from annotate.projects.models import Project
from exporters.exports.layouts import published
from exporters.exports.selection import selection
from exporters.exports.selection.ordered_rows import batches
from exporters.exports.selection.selection import Pair

ORIGINAL, ALTERED = Narrative.Side.ORIGINAL, Narrative.Side.ALTERED
# Texts with fewer characters are listed as very short.
SHORT = 20
# How many rows of each kind are listed; all are counted.
MOST = 100
# Of how many pairs the candidates are in memory at once.
PAIRS = 20

# Each kind with its heading, and why it matters.
KINDS = {
    "equal_texts": (
        "Equal texts with different grades",
        "A system that reads texts cannot tell these documents apart.",
    ),
    "relevant_without_text": (
        "Relevant documents without a text",
        "A system that reads texts cannot find them.",
    ),
    "without_relevant": (
        "Queries without a relevant document",
        "Every system gets the same score for them, whatever it returns.",
    ),
    "short_texts": (
        "Texts of fewer than 20 characters",
        "They may be titles, remains of a conversion, or errors.",
    ),
}


class Graded(NamedTuple):
    """A document with its grade."""

    doc_id: str
    candidate: int
    grade: int


class Row(NamedTuple):
    """A place to look at: documents of a pair, or none, with their grades on a side."""

    pair: Pair
    side: str
    documents: tuple[Graded, ...]


class Finding(NamedTuple):
    """How many there are of a kind, and the first MOST of them."""

    total: int
    rows: list[Row]


def find(project: Project, *, claims: bool = False) -> dict[str, Finding]:
    """Return the findings of each of KINDS, among the candidates with grades.

    `claims`: whether claimed labels are published where people have not judged.
    """
    findings = {kind: Finding(0, []) for kind in KINDS}
    seen: set[tuple[str, str]] = set()
    pairs = selection.pairs(project)
    for side in (ALTERED, Narrative.Side.REVERSED):
        for batch in batches(published.pairs_with_grades(pairs, side, claims=claims), PAIRS):
            texts = _texts({pair.query.pk for pair in batch})
            for pair, pool in published.pools_with_grades(project, batch, side, claims=claims):
                for kind, row in _look_at(pair, side, pool, texts, project.relevant_from):
                    if kind in ("relevant_without_text", "short_texts"):
                        # These are properties of a document: it is listed once.
                        document = (kind, row.documents[0].doc_id)
                        if document in seen:
                            continue
                        seen.add(document)
                    total, rows = findings[kind]
                    findings[kind] = Finding(total + 1, rows if total >= MOST else [*rows, row])
    return findings


def facts(project: Project, *, claims: bool = False) -> dict[str, Any]:
    """Return the findings for a manifest."""
    return {
        kind: {
            "count": finding.total,
            "first": [
                {
                    "pair_id": row.pair.pair_id,
                    "side": row.side,
                    "documents": {document.doc_id: document.grade for document in row.documents},
                }
                for row in finding.rows
            ],
        }
        for kind, finding in find(project, claims=claims).items()
    }


def _texts(queries: set[int]) -> dict[int, Document]:
    """Return the documents in the pools of these queries by their keys."""
    candidates = Candidate.objects.filter(query__in=queries)
    rows = Document.objects.filter(pk__in=candidates.values("document"))
    return rows.only("digest", "length").in_bulk()


def _look_at(
    pair: Pair,
    side: str,
    pool: Sequence[published.Row],
    texts: dict[int, Document],
    relevant_from: int,
) -> Iterator[tuple[str, Row]]:
    """Yield what to look at in one pair, with its kind."""
    of_sides = {side: [(row, row.after) for row in pool]}
    if side == ALTERED:
        of_sides = {ORIGINAL: [(row, row.before) for row in pool], **of_sides}
    for of, lines in of_sides.items():
        by_text: dict[str, list[Graded]] = {}
        relevant = []
        for row, grade in lines:
            if grade is None:
                continue
            text = texts[row.document]
            graded = Graded(row.doc_id, row.candidate, grade)
            relevant.append(grade >= relevant_from)
            if not text.length:
                if relevant[-1]:
                    yield "relevant_without_text", Row(pair, of, (graded,))
                continue
            by_text.setdefault(text.digest or row.doc_id, []).append(graded)
            if text.length < SHORT:
                yield "short_texts", Row(pair, of, (graded,))
        if relevant and not any(relevant):
            yield "without_relevant", Row(pair, of, ())
        for equal in by_text.values():
            if len({document.grade for document in equal}) > 1:
                yield "equal_texts", Row(pair, of, tuple(equal))
