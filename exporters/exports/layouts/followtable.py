"""The layout `followtable`: query_instruction.json and a folder of tables, as in FollowTable.

A table is positive for an instruction if its grade is relevant under the altered narrative. The
names of all tables are held in memory, but not their texts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from annotate.judgments.machine_claims import counting_claims
from annotate.judgments.models import Judgment
from annotate.pairs.models import Narrative
from annotate.projects.models import Project
from exporters.exports.files import Report, Writer
from exporters.exports.layouts import rows
from exporters.exports.layouts.facts import ONE_TEXT, finish
from exporters.exports.layouts.published import ALTERED, Published, Row, Shape, gather
from exporters.exports.manifest.manifest import Manifest
from exporters.exports.models import publication_of
from exporters.exports.selection import ordered_rows
from exporters.exports.selection.selection import Pair
from formats.followtable import CATEGORIES, LIST, POSITIONS, TABLES, TYPE_NOTE, VIOLATIONS
from formats.texts import CannotHold

NO_TYPE = "no category that FollowTable knows"
NOT_HELD = (
    ONE_TEXT,
    (
        "A table is either positive or not: grades, titles, and original and reversed narratives "
        "are left out."
    ),
    "Queries and their instructions are numbered; ids.tsv has both ids.",
)
# The instruction type of a category, for narratives whose note has no type.
TYPES = {category: kind for kind, category in reversed(CATEGORIES.items())}


class _Instruction(NamedTuple):
    pair: Pair
    positive: list[str]
    tables: list[str]
    # Why tables violate the instruction, by their names, if the claiming machine gives reasons.
    violations: dict[str, str]


class _Query(NamedTuple):
    """A query with its formerly relevant documents and its instructions."""

    query_id: str
    text: str
    positive: list[str]
    instructions: list[_Instruction]


def write(project: Project, into: Writer, report: Report) -> Manifest:
    """Write the folder; the tables only if texts may be published."""
    published = gather(project, report, _shape(project))
    kinds = _instruction_types(published.pairs[ALTERED])
    queries = _queries(published, kinds, report)
    numbers = [query.query_id for query in queries]
    positions = [str(position) for position in range(len(queries))]
    numbered = all(rows.is_number(number) for number in numbers)
    texts = {
        pair.pk: text for pair, text in published.narratives(ALTERED, published.pairs[ALTERED])
    }
    with into.file(LIST, "Queries, their instructions, and the positive tables of each.") as stream:
        stream.write(b"[")
        for position, query in enumerate(queries):
            entry = json.dumps(_entry(query, kinds, texts), ensure_ascii=False, indent=1)
            stream.write((",\n" if position else "\n").encode() + entry.encode())
        stream.write(b"\n]\n")
    if numbered and numbers != positions:
        with into.file(
            POSITIONS, "The number of each query by its position in the list."
        ) as stream:
            stream.write((json.dumps(dict(zip(positions, numbers, strict=True))) + "\n").encode())
    rows.write_ids(into, _ids(queries, numbers if numbered else positions))
    if published.publication.texts:
        for table in published.texts():
            with into.file(f"{TABLES}/{table.doc_id}.txt", "A table.") as stream:
                stream.write((table.text or "").encode())
    return finish("followtable", published, into, not_held=NOT_HELD)


def _shape(project: Project) -> Shape:
    """Return the shape: the layout lists positives only, so an earlier grade of 0 is omitted."""

    def holds(row: Row) -> bool:
        return _is_written(row, project.relevant_from)

    texts = publication_of(project).texts
    # Ids of tables become file names.
    return Shape(
        claims=True,
        sides=(ALTERED,),
        change=False,
        holds=holds,
        refuses="/" if texts else "",
        names_files=texts,
        lone_queries=True,
    )


def _is_written(row: Row, relevant: int) -> bool:
    """Return whether a candidate is written: under an instruction, or as positive for the query."""
    return row.after is not None or (row.before or 0) >= relevant


def _queries(published: Published, kinds: dict[int, str], report: Report) -> list[_Query]:
    """Return the published queries, by number if all ids are numbers, else in byte order.

    Pairs without an instruction type are left out and listed in the manifest.
    """
    relevant = published.project.relevant_from
    kept: dict[int, list[Row]] = {}
    reasons = _reasons(published)
    by_key: dict[int, _Query] = {
        query.pk: _Query(query.query_id, rows.text_of(query), published.lone[query.pk], [])
        for query in published.queries
        if query.pk in published.lone
    }
    for pair, pool in published.pools(ALTERED, report):
        query = pair.query
        if pair.pk not in kinds:
            continue
        kept[pair.pk] = [row for row in pool if _is_written(row, relevant)]
        if query.pk not in by_key:
            positive = [row.doc_id for row in pool if (row.before or 0) >= relevant]
            by_key[query.pk] = _Query(query.query_id, rows.text_of(query), positive, [])
        graded = [row for row in pool if row.after is not None]
        by_key[query.pk].instructions.append(
            _Instruction(
                pair,
                [row.doc_id for row in graded if (row.after or 0) >= relevant],
                [row.doc_id for row in graded],
                {
                    row.doc_id: reason
                    for row in graded
                    if (row.after or 0) < relevant
                    and (reason := reasons.get((pair.versions[ALTERED].pk, row.document)))
                },
            )
        )
    published.keep_only(kept, NO_TYPE)
    queries = list(by_key.values())
    for entry in queries:
        entry.instructions.sort(key=lambda its: rows.sort_key_in_query(its.pair))
    if all(rows.is_number(entry.query_id) for entry in queries):
        return sorted(queries, key=lambda entry: int(entry.query_id))
    return sorted(queries, key=lambda entry: entry.query_id.encode())


def _reasons(published: Published) -> dict[tuple[int, int], str]:
    """Return machines' reasons why documents violate, by narrative and document."""
    narratives = [pair.versions[ALTERED].pk for pair in published.pairs[ALTERED]]
    claims = Judgment.objects.filter(narrative__in=narratives)
    reasons = {}
    for claim in counting_claims(published.project, claims, "candidate__document", "note"):
        document, note = claim.columns
        if note and claim.relevance is not None:
            reasons[claim.narrative, document] = note
    return reasons


def _instruction_types(pairs: Iterable[Pair]) -> dict[int, str]:
    """Return each pair's instruction type: from its narrative's note, else from its category."""
    types = {}
    pairs = list(pairs)
    narratives = Narrative.objects.filter(
        pk__in=[pair.versions[ALTERED].pk for pair in pairs], note__startswith=TYPE_NOTE
    )
    notes: dict[int, str] = dict(ordered_rows.stream_rows(narratives, "pair", "note"))
    for pair in pairs:
        kind = notes.get(pair.pk, "").removeprefix(TYPE_NOTE)
        if kind not in CATEGORIES:
            kind = TYPES.get(pair.category, "")
        if kind:
            types[pair.pk] = kind
    if not types:
        raise CannotHold(
            f"no pair has a category that FollowTable knows: {', '.join(sorted(TYPES))}. Give the "
            "pairs one of these"
        )
    return types


def _entry(query: _Query, kinds: dict[int, str], texts: dict[int, str]) -> dict[str, Any]:
    positive = _file_names(query.positive)
    return {
        "query": query.text,
        "query_positive": positive,
        "outs": [
            {
                "instruction": texts[instruction.pair.pk],
                "instruction_type": kinds[instruction.pair.pk],
                "query_positive": positive,
                "instruction_positive": _file_names(instruction.positive),
                "all_tables": _file_names(instruction.tables),
                **(
                    {VIOLATIONS: {f"{t}.txt": why for t, why in instruction.violations.items()}}
                    if instruction.violations
                    else {}
                ),
            }
            for instruction in query.instructions
        ],
    }


def _file_names(tables: Iterable[str]) -> list[str]:
    return [f"{name}.txt" for name in tables]


def _ids(queries: list[_Query], numbers: list[str]) -> Iterator[tuple[Pair, str]]:
    for query, number in zip(queries, numbers, strict=True):
        for place, instruction in enumerate(query.instructions):
            yield instruction.pair, f"{number}_{place}"
