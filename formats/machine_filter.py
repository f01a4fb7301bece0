"""Decisions of a machine's filter to keep or discard queries, instructions and documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO

from formats.csv_rows import NAMELESS, read_csv
from formats.fields import Fields, parse_each, read_jsonl, to_json
from formats.reading import reader, write_lines
from formats.records import FILTER_DECISIONS, FilterRecord
from formats.source import Source
from formats.texts import check_id, excerpt, first_repeated

COLUMNS = ("query_id", "doc_id", "pair_id", "machine", "decision", "reason")


@reader("filter-jsonl", "decision of a filter")
def read_filter(source: Source) -> Iterator[FilterRecord]:
    """Yield decisions, one JSON object per line, with the fields of COLUMNS.

    A decision with `doc_id` is about that document of the query, one with `pair_id` about that
    instruction, and any other about the query. Discarding needs a reason.
    """
    yield from parse_each(source, read_jsonl(source), _parse_record)


@reader("filter-csv", "decision of a filter")
def read_filter_table(source: Source) -> Iterator[FilterRecord]:
    """Yield decisions from a table with a header line; refuse columns with other names."""
    table = read_csv(source, lower=True)
    if table is None:
        return
    missing = [name for name in ("query_id", "machine", "decision") if name not in table.header]
    if missing:
        source.refuse(f"the header line lacks {', '.join(missing)}")
        return
    if twice := first_repeated(table.header):
        source.refuse(f"the header line has {twice} twice")
        return
    for name in table.header:
        if name not in COLUMNS and not name.startswith(NAMELESS):
            columns = ", ".join(COLUMNS)
            source.refuse(f"there is no column “{excerpt(name, 40)}”; the columns are {columns}")
            return
    yield from parse_each(source, map(Fields, table.rows), _parse_record)


def _parse_record(fields: Fields) -> FilterRecord:
    record = FilterRecord(
        query_id=fields.id("query_id"),
        machine=fields.required_text("machine").strip(),
        decision=fields.one_of(FILTER_DECISIONS, "decision"),
        reason=fields.text("reason").strip(),
        doc_id=fields.optional_id("doc_id"),
        pair_id=fields.optional_id("pair_id"),
        brought_back=fields.boolean("brought_back"),
    )
    if record.doc_id is not None and record.pair_id is not None:
        raise ValueError("a decision is on a document or on an instruction; this one names both")
    if record.decision == "discard" and not record.reason:
        raise ValueError("the reason is missing; “discard” needs one")
    if record.decision == "keep" and record.brought_back:
        raise ValueError("only what was discarded can be brought back")
    fields.refuse_unread()
    return record


def write_filter(records: Iterable[FilterRecord], stream: IO[bytes]) -> int:
    """Write one decision per line, as `read_filter` reads it."""

    def lines() -> Iterator[str]:
        for record in records:
            check_id(record.query_id, "query_id")
            fields = record._asdict()
            if not record.brought_back:
                del fields["brought_back"]
            for name in ("doc_id", "pair_id"):
                if fields[name] is None:
                    del fields[name]
                else:
                    check_id(fields[name], name)
            yield to_json(fields)

    return write_lines(lines(), stream)
