"""The layout `beir`: corpus, queries, and a split of qrels for each side.

Shape: BEIR 2.2, GenericDataLoader. BEIR has no field for instructions.
"""

from __future__ import annotations

from annotate.projects.models import Project
from exporters.exports.files import Report, Writer
from exporters.exports.layouts import rows
from exporters.exports.layouts.facts import finish
from exporters.exports.layouts.published import (
    ALTERED,
    ORIGINAL,
    REVERSED,
    Published,
    Shape,
    gather,
)
from exporters.exports.manifest.manifest import Manifest

SPLITS = {"original": ORIGINAL, "changed": ALTERED, "reversed": REVERSED}
# Tools read quotation marks in a table differently.
SHAPE = Shape(refuses='"')


def write(project: Project, into: Writer, report: Report) -> Manifest:
    """Write the folder. The ids of a pair's queries are its id plus -og, -changed or -reversed."""
    published = gather(project, report, SHAPE)
    rows.write_corpus(published, into, passages=True)
    _write_queries(published, into)
    holds = {
        "qrels/original.tsv": "The earlier relevance of documents.",
        "qrels/changed.tsv": "The relevance under the altered narratives.",
        rows.TOP_RANKED: "The documents that a system reranks, for each query.",
    }
    with into.open_together(holds) as (original, changed, ranked):
        original.write(rows.table_line(*rows.QRELS_HEADER))
        changed.write(rows.table_line(*rows.QRELS_HEADER))
        for pair, pool in published.pools(ALTERED, report):
            for side, qrels in ((ORIGINAL, original), (ALTERED, changed)):
                query_id = pair.pair_id + rows.SUFFIXES[side]
                rows.write_grades(qrels, query_id, pool, side)
                rows.write_json_line(
                    ranked, {"query-id": query_id, "corpus-ids": [row.doc_id for row in pool]}
                )
    rows.write_reversed_qrels(
        published, into, "qrels/reversed.tsv", report, rows.SUFFIXES[REVERSED]
    )
    return finish("beir", published, into)


def _write_queries(published: Published, into: Writer) -> None:
    """Write a query for each side of each pair, with the narrative appended if settings say so."""
    appended = published.publication.instructions_in_queries
    holds = "The query of each side of each pair" + (", with its narrative." if appended else ".")
    with into.file(rows.QUERIES, holds) as stream:
        for side in (ORIGINAL, ALTERED, REVERSED):
            of = published.pairs[ALTERED if side == ORIGINAL else side]
            for pair, narrative in published.narratives(side, of):
                text = rows.text_of(pair.query)
                if appended and narrative:
                    text = f"{text} {narrative}"
                rows.write_json_line(
                    stream, {"_id": pair.pair_id + rows.SUFFIXES[side], "text": text}
                )
