"""The layout `multi-infosearch`: a record for each instruction pair with named attributes.

A record has one document that meets all attributes and one that violates some. If there are
several, the first by id is taken; the manifest counts the others, and lists pairs without both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from annotate.pairs.models import InstructionPair, Narrative
from annotate.projects.models import Project
from base.texts import amount
from exporters.exports.files import Report, Writer
from exporters.exports.layouts import rows
from exporters.exports.layouts.facts import finish
from exporters.exports.layouts.published import (
    ALTERED,
    MET,
    NOT_MET,
    REVERSED,
    Answers,
    Published,
    Row,
    Shape,
    answered_pools,
    conditions_of,
    gather,
)
from exporters.exports.manifest.manifest import Manifest
from exporters.exports.selection import conditions, ordered_rows
from exporters.exports.selection.selection import Pair
from formats.fields import to_json
from formats.multi_infosearch import (
    DOCUMENTS,
    METADATA,
    RECORDS,
    document_id,
    join_values,
    source_note,
)
from formats.records import ConditionRecord
from formats.texts import CannotHold

SHAPE = Shape(claims=True, sides=(ALTERED,), change=False, needs_texts=True)
ATTRIBUTES = "attributes.jsonl"

NOT_HELD = (
    (
        "A record has one positive and one hard negative; of several, the first by id. Ids of "
        "documents, titles and grades are left out."
    ),
)
NO_DOCUMENTS = "no document that meets all conditions, or none that violates one"


class _Record(NamedTuple):
    pair: Pair
    attributes: dict[str, str]
    negated: list[str] | None
    document: Row
    positive: Row
    negative: Row
    violated: list[str]


def write(project: Project, into: Writer, report: Report) -> Manifest:
    """Write the records, and the documents of each query in a second file."""
    published = gather(project, report, SHAPE)
    records = _records(published, report)
    if not records:
        raise CannotHold(
            "no pair has named conditions, a document that meets all of them and one that violates "
            "some, as a Multi-InfoSearch record needs"
        )
    _leave_out(published, records)
    combinations = _combinations([record.pair for record in records])
    with into.file(
        RECORDS, "A record for each pair: instruction, attributes, two documents."
    ) as stream:
        for written in _record_fields(published, records, combinations):
            rows.write_json_line(stream, written)
    _write_documents(published, records, into)
    _write_attributes(published, records, into)
    pairs = (record.pair for record in records)
    rows.write_ids(into, ((p, f"{p.query.query_id}_{combinations[p.pk]}") for p in pairs))
    return finish("multi-infosearch", published, into, not_held=NOT_HELD)


def _records(published: Published, report: Report) -> list[_Record]:
    """Return the records that can be made, in byte order of the pairs, without texts."""
    notes = _notes(published.pairs[ALTERED])
    asked = conditions_of(published.pairs[ALTERED], ALTERED)
    records = []
    for pair, pool, answers in answered_pools(published, report):
        record = _make_record(
            published, pair, pool, answers, notes.get(pair.pk, ""), asked.get(pair.pk, ())
        )
        if record is not None:
            records.append(record)
    return records


def _make_record(
    published: Published,
    pair: Pair,
    pool: list[Row],
    answers: dict[str, Answers],
    note: str,
    asked: Sequence[ConditionRecord],
) -> _Record | None:
    attributes = {condition.name: condition.text for condition in asked}
    if "" in attributes or len(attributes) < len(asked):
        return None
    relevant = published.project.relevant_from
    graded = [row for row in pool if row.after is not None and row.doc_id in answers]
    positive = next(
        (r for r in graded if (r.after or 0) >= relevant and not answers[r.doc_id].broken), None
    )
    negative = next(
        (r for r in graded if (r.after or 0) < relevant and answers[r.doc_id].broken), None
    )
    if positive is None or negative is None:
        return None
    broken = answers[negative.doc_id].broken
    return _Record(
        pair,
        attributes,
        None
        if all(condition.negated is None for condition in asked)
        else [condition.name for condition in asked if condition.negated],
        _document(pair, pool, note, {positive.doc_id, negative.doc_id}) or positive,
        positive,
        negative,
        [name for number, name in enumerate(attributes, 1) if number in broken],
    )


def _document(pair: Pair, pool: list[Row], note: str, rewritten: set[str]) -> Row | None:
    """Return the document that a record was made from: the one named in its note, or the first."""
    query_id = pair.query.query_id
    by_doc_id = {row.doc_id: row for row in pool}
    number = 1
    while (row := by_doc_id.get(document_id(query_id, number))) is not None:
        if source_note(query_id, number) == note:
            return row
        number += 1
    before = (row for row in pool if row.before is not None and row.doc_id not in rewritten)
    return by_doc_id.get(document_id(query_id, 1)) or next(before, None)


def _notes(pairs: list[Pair]) -> dict[int, str]:
    """Return the notes of the altered narratives, by the keys of their pairs."""
    narratives = Narrative.objects.filter(pk__in=[pair.versions[ALTERED].pk for pair in pairs])
    return dict(ordered_rows.stream_rows(narratives, "pair", "note"))


def _leave_out(published: Published, records: list[_Record]) -> None:
    """Publish only the pairs and documents of the records, and list the others as left out."""
    kept = {its.pair.pk: {its.document, its.positive, its.negative} for its in records}
    if others := published.keep_only(kept, NO_DOCUMENTS):
        documents = amount(others, "document")
        published.notes.append(f"No record has a place for {documents} of the published pairs.")


def _combinations(pairs: list[Pair]) -> dict[int, str]:
    """Return the number of each pair within its query: the one in its id, else a free one."""
    suffixes: dict[int, str] = {}
    taken: dict[int, set[str]] = {}
    for pair in sorted(pairs, key=rows.sort_key_in_query, reverse=True):
        its = taken.setdefault(pair.query.pk, set())
        suffix = rows.suffix_of(pair)
        if not suffix or suffix in its:
            suffix = next(str(n) for n in range(1, len(pairs) + 2) if str(n) not in its)
        its.add(suffix)
        suffixes[pair.pk] = suffix
    return suffixes


def _record_fields(
    published: Published, records: list[_Record], combinations: dict[int, str]
) -> Iterator[dict[str, Any]]:
    """Yield the records as written to the file, reading the texts of one record at a time."""
    pairs = [record.pair for record in records]
    kept = InstructionPair.objects.in_bulk([pair.pk for pair in pairs])
    changed = published.narratives(ALTERED, pairs)
    reverse = published.narratives(REVERSED, pairs)
    for record, (_, instructed), (_, reversed_) in zip(records, changed, reverse, strict=True):
        texts = published.texts_of(
            {r.document for r in (record.document, record.positive, record.negative)}
        )
        combination = combinations[record.pair.pk]
        fields = kept[record.pair.pk].fields
        lists = fields.get("attributes", {})
        attributes = {
            name: lists[name] if text == join_values(lists.get(name, [])) else text
            for name, text in record.attributes.items()
        }
        metadata = {
            name: fields.get(name, attributes.get(name))
            for name in METADATA
            if fields and (name in fields or name in attributes)
        }
        yield {
            **_without_none(dataset=fields.get("dataset")),
            "query_id": record.pair.query.query_id,
            "query": rows.text_of(record.pair.query),
            "document": texts.get(record.document.document, ""),
            "relevance": record.document.before or 0,
            **metadata,
            "attributes": attributes,
            "combo_id": int(combination) if rows.is_number(combination) else combination,
            "instructed_query": instructed,
            "reversed_query": reversed_,
            **_without_none(query_type=fields.get("query_type")),
            "positive_doc": texts.get(record.positive.document, ""),
            "hard_negative_doc": texts.get(record.negative.document, ""),
            "violated_attributes": record.violated,
            **_without_none(negated_attributes=record.negated),
        }


def _without_none(**fields: Any) -> dict[str, Any]:
    """Return the fields that have a value."""
    return {name: value for name, value in fields.items() if value is not None}


def _write_documents(published: Published, records: list[_Record], into: Writer) -> None:
    """Write the documents of each query: positives and hard negatives of its instructions."""
    by_query: dict[int, list[_Record]] = {}
    for record in records:
        by_query.setdefault(record.pair.query.pk, []).append(record)
    with into.file(DOCUMENTS, "The documents of each query, positive or hard negative.") as stream:
        stream.write(b"[")
        for place, its in enumerate(by_query.values()):
            kinds = [
                (kind, row)
                for record in its
                for kind, row in (("positive", record.positive), ("hard_negative", record.negative))
            ]
            texts = published.texts_of({row.document for _, row in kinds})
            entry = {
                "query_id": its[0].pair.query.query_id,
                "query": rows.text_of(its[0].pair.query),
                "documents": [
                    {"doc_id": f"doc_{n}", "type": kind, "text": texts.get(row.document, "")}
                    for n, (kind, row) in enumerate(kinds, 1)
                ],
            }
            stream.write((",\n" if place else "\n").encode() + to_json(entry).encode())
        stream.write(b"\n]\n")


def _write_attributes(published: Published, records: list[_Record], into: Writer) -> None:
    """Write the attributes that each document satisfies and violates: claimed, and verified."""
    of = [record.pair for record in records]
    chosen = conditions.chosen_names(published.project)
    holds = "What each document satisfies and violates, claimed and verified."
    with into.file(ATTRIBUTES, holds) as stream:
        for document in conditions.documents(published.project, of):
            if document.side == ALTERED:
                rows.write_json_line(
                    stream,
                    {
                        "pair_id": document.pair_id,
                        "doc_id": document.doc_id,
                        "claimed": _satisfied_and_violated(
                            document,
                            [
                                conditions.claimed_answer(asked, chosen)
                                for asked in document.conditions
                            ],
                        ),
                        "verified": _satisfied_and_violated(
                            document, [asked.agreed for asked in document.conditions]
                        ),
                    },
                )


def _satisfied_and_violated(
    document: conditions.DocumentConditions, answers: list[str | None]
) -> dict[str, Any] | None:
    """Return the names of satisfied and violated attributes, or None if an answer is missing."""
    if None in answers:
        return None
    names = [condition.name for condition in document.conditions]
    both = list(zip(names, answers, strict=True))
    return {
        "satisfied": [name for name, answer in both if answer == MET],
        "violated": [name for name, answer in both if answer == NOT_MET],
    }
