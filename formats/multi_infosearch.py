"""Multi-InfoSearch: a query, two or three attributes and two documents in each object.

Source: the record shapes of final_sorted.jsonl and query-doc.json. A record of the first combines
attributes of a document (audience, keyword, format, language, length, source) into an instruction,
and has a document rewritten to meet all of them and a hard negative that violates some. The second
has the documents of each query with their types.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from formats.fields import Fields, parse_each, read_json, read_jsonl
from formats.folders import Folder
from formats.reading import SeenKeys, reader
from formats.records import (
    ConditionRecord,
    Doc,
    JudgmentRecord,
    NarrativeRecord,
    PairRecord,
    Qrel,
    Topic,
    VerdictRecord,
    fields_to_json,
)
from formats.source import Source
from formats.texts import check_id, json_name

# Type of a document in query-doc.json -> its earlier relevance.
TYPES = {"positive": 1, "hard_negative": 0}
RATER = "multi-infosearch-claims"
RECORDS, DOCUMENTS = "final_sorted.jsonl", "query-doc.json"
# Attributes of a document. A record has them all; its `attributes` are those that its query uses.
METADATA = ("audience", "keyword", "format", "language", "length", "source")
# Differs from every field value.
ABSENT = object()
# Fields of a record that are kept unchanged.
KEPT = ("dataset", "query_type", *METADATA)


@reader("multi-infosearch", "record")
def read_multi_infosearch(
    source: Source,
) -> Iterator[Topic | Doc | Qrel | PairRecord | JudgmentRecord]:
    """Yield the records of final_sorted.jsonl: see `_read_records`."""
    yield from _read_records(source)


def _read_records(
    source: Source,
) -> Iterator[Topic | Doc | Qrel | PairRecord | JudgmentRecord]:
    """Yield an instruction pair `<query_id>_<combo_id>` for each record, with its documents.

    The attributes are the conditions of the altered narrative, and documents × attributes are the
    verdicts. The document that a record was made from has the record's relevance for the query; its
    two rewritings count as relevant for the query itself. Claims of the rater
    "multi-infosearch-claims" are 1 if no attribute is violated, else 0.
    """
    pairs: dict[str, int] = {}
    # Query -> its text and the number of each of its source documents.
    queries: dict[str, tuple[str, dict[int, int]]] = {}
    for fields in read_jsonl(source):
        try:
            query_id, combination = fields.id("query_id"), fields.id("combo_id")
            pair_id = f"{query_id}_{combination}"
            if first := pairs.get(pair_id):
                raise ValueError(
                    f"combination {combination} of query {query_id} was already on line {first}"
                )
            query = fields.required_text("query")
            first_query, documents = queries.get(query_id, (query, {}))
            if first_query != query:
                raise ValueError(f"query {query_id} had another text on an earlier line")
            original = fields.required_text("document")
            number = documents.get(hash(original), len(documents) + 1)
            records = list(_parse_record(query_id, pair_id, query, fields, number))
            relevance = fields.relevance("relevance")
        except ValueError as error:
            source.refuse(str(error))
            continue
        fields.report_unread(source)
        pairs[pair_id] = source.line or 0
        if query_id not in queries:
            queries[query_id] = (query, documents)
            yield Topic(query_id, query)
        if (key := hash(original)) not in documents:
            documents[key] = number
            doc_id = document_id(query_id, number)
            yield Doc(doc_id, "", original)
            yield Qrel(query_id, doc_id, relevance)
        yield from records


def document_id(query_id: str, number: int) -> str:
    """Return the id of a document from which records of a query were made."""
    return f"{query_id}_document{number}"


def source_note(query_id: str, number: int) -> str:
    """Return the note of a narrative: its source document, empty for the query's first one."""
    return f"made from {document_id(query_id, number)}" if number > 1 else ""


def _parse_record(
    query_id: str, pair_id: str, query: str, fields: Fields, number: int
) -> Iterator[Doc | Qrel | PairRecord | JudgmentRecord]:
    attributes = _parse_attributes(fields)
    violated = _parse_names(fields.value("violated_attributes"), "violated_attributes")
    if unknown := [name for name in violated if name not in attributes]:
        raise ValueError(f"{unknown[0]} is violated, but is not among the attributes")
    if not violated:
        raise ValueError("violated_attributes is empty: a hard negative violates at least one")
    documents = {
        f"{pair_id}_positive": (fields.required_text("positive_doc"), ()),
        f"{pair_id}_negative": (fields.required_text("hard_negative_doc"), tuple(violated)),
    }
    negated = _parse_negated(fields, attributes)
    conditions = tuple(
        ConditionRecord(name, value, None if negated is None else name in negated)
        for name, value in attributes.items()
    )
    narratives = [
        NarrativeRecord(
            *("altered", 1, fields.required_text("instructed_query")),
            note=source_note(query_id, number),
            conditions=conditions,
        )
    ]
    if (text := fields.text("reversed_query")).strip():
        narratives.append(NarrativeRecord("reversed", 1, text))
    for doc_id, (text, _) in documents.items():
        yield Doc(doc_id, "", text)
        yield Qrel(query_id, doc_id, 1)
    yield PairRecord(
        pair_id=pair_id,
        query_id=query_id,
        title=query,
        category=", ".join(attributes),
        origin="llm",
        narratives=tuple(narratives),
        source_fields=_unused_fields(fields),
    )
    for doc_id, (_, broken) in documents.items():
        yield JudgmentRecord(
            query_id=query_id,
            doc_id=doc_id,
            annotator=RATER,
            relevance=int(not broken),
            side="altered",
            pair_id=pair_id,
            version=1,
            machine=True,
            verdicts=tuple(
                VerdictRecord(number, "not_met" if name in broken else "met")
                for number, name in enumerate(attributes, 1)
            ),
        )


def _parse_attributes(fields: Fields) -> dict[str, str]:
    """Return the attributes in their order; several values of one are joined by commas."""
    value = fields.value("attributes")
    if value == {}:
        raise ValueError("attributes is empty: an instruction has at least one")
    if not isinstance(value, dict):
        raise ValueError(f"attributes must be an object of names, not {json_name(value)}")
    for name, attribute in value.items():
        if fields.values.get(name) == attribute:
            # The record repeats its attributes beside `attributes`: count them as read.
            fields.value(name)
    return {name: _join_value(name, attribute) for name, attribute in value.items()}


def _unused_fields(fields: Fields) -> str:
    """Return the other fields of a record as JSON, without those that repeat an attribute.

    Attributes with lists of values are included, because a condition has their values joined.
    """
    attributes = fields.values.get("attributes", {})
    kept = {
        name: value
        for name in KEPT
        if (value := fields.value(name)) != attributes.get(name, ABSENT)
    }
    lists = {name: value for name, value in attributes.items() if isinstance(value, list)}
    return fields_to_json({**kept, "attributes": lists})


def _parse_negated(fields: Fields, attributes: dict[str, str]) -> list[str] | None:
    """Return the attributes whose opposite the reversed query asks for; None if not given."""
    if fields.value("negated_attributes") is None:
        return None
    negated = _parse_names(fields.value("negated_attributes"), "negated_attributes")
    if unknown := [name for name in negated if name not in attributes]:
        raise ValueError(f"{unknown[0]} is negated, but is not among the attributes")
    return negated


def join_values(values: list[str]) -> str:
    """Return several values of an attribute as the text of a condition."""
    return ", ".join(values)


def _join_value(name: str, value: Any) -> str:
    values = value if isinstance(value, list) else [value]
    if not values or not all(isinstance(part, str) and part.strip() for part in values):
        raise ValueError(f"the attribute {name} must be text or a list of texts")
    return join_values(values)


def _parse_names(value: Any, field: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise ValueError(f"{field} must be a list of names, not {json_name(value)}")
    return value


def _read_queries(
    source: Source,
) -> Iterator[tuple[str, str, dict[str, tuple[str, str]]]]:
    """Yield the id and text of each query, with the text and type of its documents."""
    seen = SeenKeys()

    def parse(fields: Fields) -> tuple[str, str, dict[str, tuple[str, str]]]:
        query_id, query = fields.id("query_id"), fields.required_text("query")
        documents = _parse_documents(query_id, fields)
        if seen.is_repeated(query_id):
            raise ValueError(f"query {query_id} occurs twice")
        return query_id, query, documents

    return parse_each(source, read_json(source), parse)


@reader("multi-infosearch-docs", "query")
def read_documents(source: Source) -> Iterator[Topic | Doc | Qrel]:
    """Yield the queries of query-doc.json with their documents, named `<query_id>_<doc_id>`.

    The file does not say for which instruction a document is a positive or a hard negative. So its
    type gives its relevance for the query, 1 or 0, and not a claim under an instruction.
    """
    for query_id, query, documents in _read_queries(source):
        yield Topic(query_id, query)
        for doc_id, (text, kind) in documents.items():
            yield Doc(doc_id, "", text)
            yield Qrel(query_id, doc_id, TYPES[kind])


def _parse_documents(query_id: str, fields: Fields) -> dict[str, tuple[str, str]]:
    """Return the text and the type of each document of a query, by id."""
    documents: dict[str, tuple[str, str]] = {}
    for entry in fields.each("documents"):
        # Numbering restarts for each query: doc_1, doc_2 and so on.
        doc_id = check_id(f"{query_id}_{entry.id('doc_id')}", "doc_id")
        if doc_id in documents:
            raise ValueError(f"document {entry.id('doc_id')} occurs twice")
        kind = entry.one_of(tuple(TYPES), "type")
        documents[doc_id] = (entry.required_text("text"), kind)
    if not documents:
        raise ValueError("documents is empty: a query has at least one")
    return documents


@reader("multi-infosearch-folder", "record")
def read_folder(folder: Folder) -> Iterator[Topic | Doc | Qrel | PairRecord | JudgmentRecord]:
    """Yield the records of both files of the dataset, final_sorted.jsonl and query-doc.json.

    If the text of a document in query-doc.json is a rewriting of the same query in the first file,
    it is that document, and its type must be the same. Any other is a separate document.
    """
    names = folder.names()
    if missing := [name for name in (RECORDS, DOCUMENTS) if name not in names]:
        folder.refuse_all(f"no {' and no '.join(missing)} in this folder")
        return
    # Query -> digest of a rewriting's text -> its type.
    rewritten: dict[str, dict[bytes, str]] = {}
    texts: dict[str, str] = {}
    for record in _read_records(folder.source(RECORDS)):
        if isinstance(record, Doc) and record.text is not None:
            texts[record.doc_id] = record.text
        elif isinstance(record, JudgmentRecord):
            kind = "positive" if record.relevance else "hard_negative"
            text = texts.pop(record.doc_id)
            rewritten.setdefault(record.query_id, {})[_digest(text)] = kind
        elif isinstance(record, Topic):
            texts.clear()
        yield record
    source = folder.source(DOCUMENTS)
    for query_id, query, documents in _read_queries(source):
        kinds = rewritten.get(query_id, {})
        if query_id not in rewritten:
            yield Topic(query_id, query)
        for doc_id, (text, kind) in documents.items():
            kind_there = kinds.get(_digest(text))
            if kind_there is None:
                yield Doc(doc_id, "", text)
                yield Qrel(query_id, doc_id, TYPES[kind])
            elif kind_there != kind:
                source.refuse(
                    f"document {doc_id} is a {kind} here, and a {kind_there} in {RECORDS}"
                )


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=16).digest()
