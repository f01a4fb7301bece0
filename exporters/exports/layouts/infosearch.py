"""The layout `infosearch`: queries with three instructions, a corpus, and qrels for each.

Each instruction pair becomes a separate query, because a query of the layout has one instruction of
each kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from annotate.pairs.models import InstructionPair
from annotate.projects.models import Project
from exporters.exports.files import Report, Writer
from exporters.exports.layouts import rows
from exporters.exports.layouts.facts import ONE_TEXT, finish
from exporters.exports.layouts.published import (
    ALTERED,
    ORIGINAL,
    REVERSED,
    Published,
    Row,
    Shape,
    conditions_of,
    gather,
)
from exporters.exports.manifest.manifest import Manifest
from exporters.exports.selection import ordered_rows
from exporters.exports.selection.selection import Pair
from formats.infosearch import KEPT


def _has_a_line(row: Row) -> bool:
    return row.before is not None or row.after is not None


SHAPE = Shape(claims=True, change=False, holds=_has_a_line, refuses='"')
FILE = "{}/test.tsv"


def write(project: Project, into: Writer, report: Report) -> Manifest:
    """Write the folder; qrels of the reversed side only if it has narratives and grades."""
    published = gather(project, report, SHAPE)
    _write_queries(published, into)
    rows.write_corpus(published, into)
    holds = {
        FILE.format("qrels_og"): "The earlier relevance of documents.",
        FILE.format("qrels_changed"): "The relevance under the altered narratives.",
    }
    with into.open_together(holds) as (original, changed):
        original.write(rows.table_line(*rows.QRELS_HEADER))
        changed.write(rows.table_line(*rows.QRELS_HEADER))
        for pair, pool in published.pools(ALTERED, report):
            rows.write_grades(original, pair.pair_id, pool, ORIGINAL)
            rows.write_grades(changed, pair.pair_id, pool, ALTERED)
    if published.pairs[REVERSED]:
        with into.file(FILE.format("qrels_reversed"), rows.REVERSED_QRELS) as stream:
            stream.write(rows.table_line(*rows.QRELS_HEADER))
            for pair, pool in published.pools(REVERSED, report):
                rows.write_grades(stream, pair.pair_id, pool, REVERSED)
    not_held = (ONE_TEXT, "Each instruction pair is a separate query, under the pair's id.")
    return finish("infosearch", published, into, not_held=not_held)


def _write_queries(published: Published, into: Writer) -> None:
    """Write each pair as a query with its three instructions; a missing one is empty."""
    pairs = published.pairs[ALTERED]
    kept = _fields_of_pairs(pairs)
    sides = (published.narratives(side, pairs) for side in (ORIGINAL, ALTERED, REVERSED))
    with into.file(rows.QUERIES, "Each pair as a query, with its three instructions.") as stream:
        for (pair, original), (_pair, changed), (_same, reverse) in zip(*sides, strict=True):
            rows.write_json_line(
                stream,
                {
                    "_id": pair.pair_id,
                    "text": rows.text_of(pair.query),
                    "instruction_og": original,
                    "instruction_changed": changed,
                    "instruction_reversed": reverse,
                    **kept[pair.pk],
                },
            )


def _fields_of_pairs(pairs: Sequence[Pair]) -> dict[int, dict[str, Any]]:
    """Return the further fields of each query, as far as known: core query, dimension, condition,
    keywords and short query.
    """
    fields_of_pair: dict[int, dict[str, Any]] = {}
    for batch in ordered_rows.batches(pairs, ordered_rows.BATCH):
        conditions = conditions_of(batch, ALTERED)
        stored = InstructionPair.objects.in_bulk([pair.pk for pair in batch])
        for pair in batch:
            of_pair = conditions.get(pair.pk, ())
            # A query of InfoSearch has exactly one condition, named after its dimension.
            condition = (
                of_pair[0].text if len(of_pair) == 1 and of_pair[0].name == pair.category else ""
            )
            fields = {name: stored[pair.pk].fields.get(name) for name in KEPT}
            values = {
                "core_id": pair.query.core if pair.query.core_given else "",
                "dimension": pair.category,
                "condition": condition,
                **fields,
            }
            fields_of_pair[pair.pk] = {name: value for name, value in values.items() if value}
    return fields_of_pair
