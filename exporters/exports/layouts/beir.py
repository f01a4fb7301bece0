"""The layout `beir`: corpus, queries, and a split of qrels for each side.

Shape: BEIR 2.2, GenericDataLoader. BEIR has no field for instructions.
"""

from __future__ import annotations

from annotate.projects.models import Project
from exporters.exports.files import Report, Writer
from exporters.exports.layouts import rows
from exporters.exports.layouts.facts import ONE_TEXT, finish
from exporters.exports.layouts.published import (
    ALTERED,
    ORIGINAL,
    REVERSED,
    Published,
    Shape,
    gather,
)
from exporters.exports.manifest.manifest import Manifest

# Tools read quotation marks in a table differently.
SHAPE = Shape(refuses='"')
NOT_HELD = (ONE_TEXT, "BEIR's loader reads neither top_ranked.jsonl nor pairs.jsonl.")


def write(project: Project, into: Writer, report: Report) -> Manifest:
    """Write the folder. The ids of a pair's queries are its id plus -og, -changed or -reversed."""
    published = gather(project, report, SHAPE)
    rows.write_corpus(published, into, passages=True)
    _write_queries(published, into)
    files = {
        "qrels/original.tsv": "The earlier relevance of documents.",
        "qrels/changed.tsv": "The relevance under the altered narratives.",
        rows.TOP_RANKED: "The documents that a system reranks, for each query.",
    }
    if published.pairs[REVERSED]:
        files["qrels/reversed.tsv"] = rows.REVERSED_QRELS
    with into.open_together(files) as (original, changed, ranked, *reverse):
        qrels = dict(
            zip((ORIGINAL, ALTERED, REVERSED), (original, changed, *reverse), strict=False)
        )
        for stream in qrels.values():
            stream.write(rows.table_line(*rows.QRELS_HEADER))
        for side, written in ((ALTERED, (ORIGINAL, ALTERED)), (REVERSED, (REVERSED,))):
            for pair, pool in published.pools(side, report):
                candidates = [row.doc_id for row in pool]
                for of in written:
                    query_id = pair.pair_id + rows.SUFFIXES[of]
                    rows.write_grades(qrels[of], query_id, pool, of)
                    rows.write_json_line(ranked, {"query-id": query_id, "corpus-ids": candidates})
    return finish("beir", published, into, not_held=NOT_HELD)


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
