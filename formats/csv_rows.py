"""Tables of comma-separated values, read row by row below the header line."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import NamedTuple

from formats.reading import MAX_RECORD
from formats.source import Source

# The csv module's own limit on a cell is lower, and one for the whole process.
csv.field_size_limit(MAX_RECORD)

# Columns without a name are called this, followed by their number.
NAMELESS = "column"


class CsvTable(NamedTuple):
    """The names in the header line, and the rows below it as dicts with these names.

    An empty cell is None. A row that is not CSV, or longer than the header line, is refused and
    skipped. The source's line is the one on which the row begins.
    """

    header: list[str]
    rows: Iterator[dict[str, str | None]]


def read_csv(source: Source, *, lower: bool = False) -> CsvTable | None:
    """Return the table in a file, or None if the file is empty or refused.

    Names are stripped, and lowercased if `lower`. Cells are separated by commas, or by semicolons
    or tabs if the header line has no comma. A quoted cell may span several lines.
    """
    starts: list[tuple[int, str]] = []

    def feed() -> Iterator[str]:
        for line in source.lines():
            starts.append((source.line or 0, line))
            # A quoted cell may continue on the next line, so csv needs the line end.
            yield line + "\n"

    lines = feed()
    header_line = next(lines, None)
    if header_line is None:
        return None
    delimiter = next((d for d in ",;\t" if d in header_line), ",")
    names = next(csv.reader([header_line], delimiter=delimiter))
    header = [name.strip() or f"{NAMELESS} {number}" for number, name in enumerate(names, 1)]
    header = [name.lower() for name in header] if lower else header
    return CsvTable(header, _read_rows(source, header, lines, delimiter, starts))


def _read_rows(
    source: Source,
    header: list[str],
    lines: Iterator[str],
    delimiter: str,
    starts: list[tuple[int, str]],
) -> Iterator[dict[str, str | None]]:
    rows = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        starts.clear()
        try:
            row = next(rows, None)
        except csv.Error as error:
            source.line, source.text = starts[0] if starts else (source.line, None)
            if "limit" in str(error):
                source.refuse(f"a cell is longer than {MAX_RECORD:,} characters")
            else:
                source.refuse(f"not valid CSV: {error}")
            if source.broken or "limit" in str(error) or "end of data" in str(error):
                return
            continue
        if row is None or source.broken:
            return
        source.line, source.text = starts[0]
        if not any(row):
            continue
        if len(row) > len(header):
            source.refuse(f"{len(row)} columns, but the header line has {len(header)}")
            continue
        yield {
            name: value or None
            for name, value in zip(header, row, strict=False)
            if value or not name.startswith(NAMELESS)
        }
