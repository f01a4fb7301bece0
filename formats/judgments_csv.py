"""Judgments as a table with a header line, as spreadsheets and scripts write them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import IO

from formats.csv_rows import NAMELESS, read_csv
from formats.fields import Fields, parse_each
from formats.jsonl import parse_judgment
from formats.reading import normalize_line_ends, reader
from formats.records import JudgmentRecord
from formats.source import Source
from formats.texts import check_id, check_text, excerpt, first_repeated

COLUMNS = (
    "query_id",
    "doc_id",
    "annotator",
    "relevance",
    "side",
    "at",
    "note",
    "pair_id",
    "version",
    "uuid",
    "machine",
    "active_ms",
    "pressed",
    "made_at",
)
# Written if documents have had several texts.
TEXT_VERSION = "text_version"


@reader("judgments-csv", "judgment")
def read_judgments(source: Source) -> Iterator[JudgmentRecord]:
    """Yield judgments from the columns query_id, doc_id, annotator and relevance (or label).

    Optional: the other COLUMNS, and TEXT_VERSION. A column with another name is refused.
    Cells are separated by commas, or by semicolons or tabs if the header line has no comma.
    """
    table = read_csv(source, lower=True)
    if table is None:
        return
    if problem := _header_problem(table.header):
        source.refuse(problem)
        return
    yield from parse_each(source, map(Fields, table.rows), _parse_judgment)


def _header_problem(header: list[str]) -> str | None:
    if twice := first_repeated(header):
        return f"the header line has {twice} twice"
    if "relevance" in header and "label" in header:
        return "the header line has relevance and label; keep one of them"
    missing = [name for name in ("query_id", "doc_id", "annotator") if name not in header]
    if "relevance" not in header and "label" not in header:
        missing.append("relevance")
    if missing:
        return f"the header line lacks {', '.join(missing)}"
    for name in header:
        if name not in (*COLUMNS, TEXT_VERSION, "label") and not name.startswith(NAMELESS):
            columns = ", ".join((*COLUMNS, TEXT_VERSION))
            return f"there is no column “{excerpt(name, 40)}”; the columns are {columns}"
    return None


def _parse_judgment(fields: Fields) -> JudgmentRecord:
    judgment = parse_judgment(fields)
    # Spreadsheets write TRUE and FALSE.
    machine = fields.one_of(("true", "false", "TRUE", "FALSE"), "machine", default="false")
    judgment = judgment._replace(
        annotator=judgment.annotator.strip(), machine=machine.lower() == "true"
    )
    fields.refuse_unread()
    return judgment


def write_judgments(records: Iterable[JudgmentRecord], stream: IO[bytes]) -> int:
    """Write judgments with all COLUMNS; their evidence, clauses and verdicts are dropped.

    A superseded or withdrawn judgment is refused: when read back, it would count.
    """
    table = JudgmentTable(stream)
    for record in records:
        table.add(record)
    return table.close()


class JudgmentTable:
    """A table of judgments that is written row by row, for callers that iterate over them."""

    def __init__(self, stream: IO[bytes], *, text_versions: bool = False) -> None:
        """Write the header line; `text_versions` adds the column TEXT_VERSION."""
        self._stream = stream
        self._text_versions = text_versions
        self._buffer = io.StringIO()
        self._writer = csv.writer(self._buffer, lineterminator="\n")
        self._writer.writerow((*COLUMNS, TEXT_VERSION) if text_versions else COLUMNS)
        self._count = 0

    def add(self, record: JudgmentRecord) -> None:
        """Write one judgment; raise ValueError if the table cannot represent it."""
        check_id(record.query_id, "query_id")
        check_id(record.doc_id, "doc_id")
        check_text(record.annotator, "annotator")
        check_text(record.note, "note")
        if record.superseded_at is not None or record.withdrawn_at is not None:
            raise ValueError(
                f"the judgment of {record.annotator} on {record.doc_id} no longer stands; "
                "judgments-csv holds current judgments only"
            )
        columns = (*COLUMNS, TEXT_VERSION) if self._text_versions else COLUMNS
        self._writer.writerow([_cell(getattr(record, name)) for name in columns])
        self._count += 1
        if self._count % 1_000 == 0:
            self._flush()

    def close(self) -> int:
        """Write the rest and return how many judgments there were; the stream stays open."""
        self._flush()
        return self._count

    def _flush(self) -> None:
        self._stream.write(self._buffer.getvalue().encode())
        self._buffer.seek(0)
        self._buffer.truncate()


def _cell(value: str | int | datetime | None) -> str | int | None:
    """Return a value as it is written in a cell; false is an empty cell."""
    if isinstance(value, bool):
        return "true" if value else None
    if isinstance(value, datetime):
        return value.isoformat()
    return normalize_line_ends(value) if isinstance(value, str) else value
