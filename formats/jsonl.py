"""Rejudge's own JSONL files, one object per line: documents and judgments.

Complete: every field of a record is written and reads back to the same record. Documents may come
from other tools: their field names are accepted (`_id`, `contents`), and unknown fields are counted
as left out. In judgments an unknown field is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import IO

from formats.fields import Fields, parse_each, read_jsonl, to_json
from formats.reading import SeenKeys, reader, write_lines
from formats.records import (
    ANSWERS,
    FLAG_KINDS,
    MARKUPS,
    OUTCOMES,
    PRESSED,
    SIDES,
    AdjudicationRecord,
    DecisionRecord,
    Doc,
    Evidence,
    FlagRecord,
    JudgmentRecord,
    RatingRecord,
    ReviewRecord,
    TextRead,
    VerdictRecord,
)
from formats.source import Source
from formats.tables import markup_of
from formats.texts import check_id

# --- documents ------------------------------------------------------------------------------------


@reader("docs-jsonl", "document")
def read_docs(source: Source) -> Iterator[Doc]:
    """Yield one document per line: `{"doc_id", "title", "text", "markup"}`.

    A document without text is known by its id only. A document with several texts has a line for
    each, with its number in `text_version`.
    """
    seen = SeenKeys()

    def parse(fields: Fields) -> Doc:
        doc = parse_doc(fields)
        doc = doc._replace(text_version=fields.optional_integer("text_version", least=1))
        if doc.text_version is not None and doc.text is None:
            raise ValueError("text_version is given, but text is missing")
        version = f"version {doc.text_version} of " if doc.text_version else ""
        if first := seen.first_line(f"{doc.doc_id} {version}", source.line or 0):
            raise ValueError(f"{version}document {doc.doc_id} was already on line {first}")
        return doc

    yield from parse_each(source, read_jsonl(source), parse)


def parse_doc(fields: Fields, metadata: Fields | None = None) -> Doc:
    """Return the document in one object. Without `markup`, the text decides (`markup_of`).

    A `markup` in `metadata` takes precedence over one in the object itself.
    """
    text = fields.optional_text("text", "contents", "body", "segment")
    markup = metadata.optional_one_of(MARKUPS, "markup") if metadata else None
    markup = markup or fields.optional_one_of(MARKUPS, "markup") or markup_of(text or "")
    return Doc(
        fields.id("doc_id", "_id", "id", "docno", "docid"), fields.text("title"), text, markup
    )


def write_docs(records: Iterable[Doc], stream: IO[bytes]) -> int:
    """Write one document per line, as `read_docs` reads it."""

    def lines() -> Iterator[str]:
        for doc in records:
            check_id(doc.doc_id, "doc_id")
            yield to_json(_written_fields(doc))

    return write_lines(lines(), stream)


def _written_fields(record: Doc | JudgmentFileRecord) -> dict[str, object]:
    """Return a record's fields, without empty ones that were added to the format later.

    Projects that do not use these fields keep their bytes: `text_version` of a document with one
    text, `machine` of a flag or review by a person, `documents` of a review without any.
    """
    fields = record._asdict()
    if fields.get("text_version", 1) is None:
        del fields["text_version"]
    if isinstance(record, FlagRecord | ReviewRecord) and not record.machine:
        del fields["machine"]
    if isinstance(record, ReviewRecord) and not record.documents:
        del fields["documents"]
    return fields


# --- judgments and what belongs to them -----------------------------------------------------------

JudgmentFileRecord = (
    JudgmentRecord | FlagRecord | AdjudicationRecord | ReviewRecord | DecisionRecord
)


@reader("judgments-jsonl", "judgment")
def read_judgments(source: Source) -> Iterator[JudgmentFileRecord]:
    """Yield judgments, flags, adjudications, reviews and decisions, one per line, by `type`.

    A line without `type` is a judgment: query_id, doc_id, annotator and relevance are enough.
    """

    def parse(fields: Fields) -> JudgmentFileRecord:
        kind = fields.one_of(tuple(_PARSERS), "type", default="judgment")
        record = _PARSERS[kind](fields)
        fields.refuse_unread()
        return record

    yield from parse_each(source, read_jsonl(source), parse)


def _parse_judgment(fields: Fields) -> JudgmentRecord:
    return parse_judgment(fields)._replace(
        machine=fields.boolean("machine"),
        evidence=_parse_spans(fields, "evidence"),
        superseded_at=fields.time("superseded_at"),
        withdrawn_at=fields.time("withdrawn_at"),
        clauses=_parse_spans(fields, "clauses"),
        verdicts=_parse_verdicts(fields),
    )


def parse_judgment(fields: Fields) -> JudgmentRecord:
    """Return a judgment with the fields that every format reads alike."""
    return JudgmentRecord(
        query_id=fields.id("query_id"),
        doc_id=fields.id("doc_id"),
        annotator=fields.required_text("annotator"),
        relevance=fields.relevance("relevance", "label"),
        side=fields.optional_one_of(SIDES, "side"),
        pair_id=fields.optional_id("pair_id"),
        version=fields.optional_integer("version", least=1),
        at=fields.time("at"),
        note=fields.text("note"),
        uuid=fields.uuid("uuid"),
        active_ms=fields.optional_integer("active_ms"),
        pressed=fields.optional_one_of(PRESSED, "pressed") or "",
        made_at=fields.time("made_at"),
        text_version=fields.optional_integer("text_version", least=1),
    )


def _parse_spans(fields: Fields, name: str) -> tuple[Evidence, ...]:
    spans = []
    for entry in fields.each(name):
        start, end = entry.optional_integer("start"), entry.optional_integer("end")
        if start is None or end is None or end <= start:
            raise ValueError(f"a span of {name} needs a start and an end after it")
        spans.append(Evidence(start, end))
    return tuple(spans)


def _parse_verdicts(fields: Fields) -> tuple[VerdictRecord, ...]:
    """Return verdicts in the order of their conditions, at most one for each."""
    answers: dict[int, str] = {}
    for entry in fields.each("verdicts"):
        number = entry.optional_integer("condition", least=1)
        if number is None:
            raise ValueError("a verdict needs the number of its condition, from 1")
        if number in answers:
            raise ValueError(f"there are two verdicts on condition {number}")
        answers[number] = entry.one_of(ANSWERS, "answer")
    return tuple(VerdictRecord(number, answer) for number, answer in sorted(answers.items()))


def _parse_flag(fields: Fields) -> FlagRecord:
    return FlagRecord(
        query_id=fields.id("query_id"),
        doc_id=fields.id("doc_id"),
        annotator=fields.required_text("annotator"),
        kind=fields.one_of(FLAG_KINDS, "kind"),
        side=fields.optional_one_of(SIDES, "side"),
        pair_id=fields.optional_id("pair_id"),
        version=fields.optional_integer("version", least=1),
        at=fields.time("at"),
        words=fields.text("words"),
        cleared_at=fields.time("cleared_at"),
        uuid=fields.uuid("uuid"),
        made_at=fields.time("made_at"),
        machine=fields.boolean("machine"),
        text_version=fields.optional_integer("text_version", least=1),
    )


def _parse_adjudication(fields: Fields) -> AdjudicationRecord:
    _refuse_machine(fields, "an adjudication")
    return AdjudicationRecord(
        query_id=fields.id("query_id"),
        doc_id=fields.id("doc_id"),
        by=fields.required_text("by"),
        relevance=fields.relevance("relevance"),
        side=fields.optional_one_of(SIDES, "side"),
        pair_id=fields.optional_id("pair_id"),
        version=fields.optional_integer("version", least=1),
        at=fields.time("at"),
        reason=fields.text("reason"),
        cause=fields.text("cause"),
        withdrawn_by=fields.optional_text("withdrawn_by"),
        withdrawn_at=fields.time("withdrawn_at"),
        text_version=fields.optional_integer("text_version", least=1),
    )


def _parse_review(fields: Fields) -> ReviewRecord:
    return ReviewRecord(
        pair_id=fields.id("pair_id"),
        query_id=fields.id("query_id"),
        auditor=fields.required_text("auditor"),
        rubric=fields.required_text("rubric"),
        side=fields.one_of(SIDES, "side", default="altered"),
        version=fields.optional_integer("version", least=1) or 1,
        started_at=fields.time("started_at"),
        at=fields.time("at"),
        ratings=tuple(
            RatingRecord(
                entry.required_text("criterion"), entry.required_text("level"), entry.text("words")
            )
            for entry in fields.each("ratings")
        ),
        machine=fields.boolean("machine"),
        documents=_parse_texts_read(fields),
    )


def _parse_texts_read(fields: Fields) -> tuple[TextRead, ...]:
    """Return text versions of documents, in the order given, at most one for each document."""
    texts: dict[str, TextRead] = {}
    for entry in fields.each("documents"):
        doc_id = entry.id("doc_id")
        if doc_id in texts:
            raise ValueError(f"document {doc_id} is named twice under “documents”")
        version = entry.optional_integer("text_version", least=1) or 1
        texts[doc_id] = TextRead(doc_id, version)
    return tuple(texts.values())


def _refuse_machine(fields: Fields, what: str) -> None:
    if fields.boolean("machine"):
        raise ValueError(f"{what} is made by a person, so “machine” cannot be true")


def _parse_decision(fields: Fields) -> DecisionRecord:
    _refuse_machine(fields, "a decision")
    return DecisionRecord(
        pair_id=fields.id("pair_id"),
        query_id=fields.id("query_id"),
        by=fields.required_text("by"),
        outcome=fields.one_of(OUTCOMES, "outcome"),
        side=fields.one_of(SIDES, "side", default="altered"),
        version=fields.optional_integer("version", least=1) or 1,
        at=fields.time("at"),
        reason=fields.text("reason"),
        withdrawn_by=fields.optional_text("withdrawn_by"),
        withdrawn_at=fields.time("withdrawn_at"),
    )


_PARSERS: dict[str, Callable[[Fields], JudgmentFileRecord]] = {
    "judgment": _parse_judgment,
    "flag": _parse_flag,
    "adjudication": _parse_adjudication,
    "review": _parse_review,
    "decision": _parse_decision,
}
_KIND_OF: dict[type, str] = {
    JudgmentRecord: "judgment",
    FlagRecord: "flag",
    AdjudicationRecord: "adjudication",
    ReviewRecord: "review",
    DecisionRecord: "decision",
}


def write_judgments(records: Iterable[JudgmentFileRecord], stream: IO[bytes]) -> int:
    """Write one judgment, flag, adjudication, review or decision per line for `read_judgments`."""

    def lines() -> Iterator[str]:
        for record in records:
            check_id(record[0], record._fields[0])
            check_id(record[1], record._fields[1])
            yield to_json({"type": _KIND_OF[type(record)], **_written_fields(record)})

    return write_lines(lines(), stream)
