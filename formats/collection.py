"""What the qrels and pairs of a project do not have: further queries and candidates, and removals.

A project is moved to another installation with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO

from formats.fields import Fields, parse_each, read_jsonl, to_json
from formats.reading import reader, write_lines
from formats.records import COLLECTION_KINDS, CollectionRecord
from formats.source import Source
from formats.texts import check_id


@reader("collection-jsonl", "query, instruction or candidate")
def read_collection(source: Source) -> Iterator[CollectionRecord]:
    """Yield queries, instructions and candidates, one JSON object per line, by `type`.

    One with a `reason` is taken out. An instruction needs one, because `pairs-jsonl` has the rest.
    """
    yield from parse_each(source, read_jsonl(source), _parse_record)


def _parse_record(fields: Fields) -> CollectionRecord:
    kind = fields.one_of(COLLECTION_KINDS, "type")
    record = CollectionRecord(
        kind,
        query_id=fields.id("query_id"),
        pair_id=fields.id("pair_id") if kind == "instruction" else None,
        doc_id=fields.id("doc_id") if kind == "candidate" else None,
        relevance=_parse_relevance(fields) if kind == "candidate" else None,
        title=fields.text("title") if kind == "query" else "",
        description=fields.text("description") if kind == "query" else "",
        reason=fields.text("reason").strip(),
        at=fields.time("at"),
        by=fields.optional_text("by"),
        machine=fields.boolean("machine"),
    )
    fields.refuse_unread()
    if record.reason:
        if record.by is not None and not record.by.strip():
            raise ValueError("by is empty")
    elif kind == "instruction":
        raise ValueError("the reason is missing; an instruction that is taken out needs one")
    elif record.at or record.by or record.machine:
        raise ValueError("at, by and machine say who took something out; the reason is missing")
    return record


def _parse_relevance(fields: Fields) -> int | None:
    return None if fields.value("relevance") is None else fields.relevance("relevance")


def write_collection(records: Iterable[CollectionRecord], stream: IO[bytes]) -> int:
    """Write one query, instruction or candidate per line, as `read_collection` reads it."""

    def lines() -> Iterator[str]:
        for record in records:
            for name in ("query_id", "pair_id", "doc_id"):
                if (value := getattr(record, name)) is not None:
                    check_id(value, name)
            fields = record._asdict()
            if not record.machine:
                del fields["machine"]
            yield to_json({key: value for key, value in fields.items() if value not in ("", None)})

    return write_lines(lines(), stream)
