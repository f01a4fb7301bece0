"""CSV tables for people, streamed line by line, so memory use does not grow with their length.

A spreadsheet evaluates a cell that begins like a formula, and a formula can send neighbouring cells
elsewhere. Such a cell therefore gets a leading apostrophe, which marks it as text. Files for
programs (exports, releases, files that can be loaded again) are not written here: they keep every
byte.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence

from django.http import StreamingHttpResponse

# Characters that begin a formula, also after white space. Spreadsheets read the full-width forms
# like the ASCII ones.
_FORMULA = re.compile(r"\s*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")


def cell(text: str) -> str:
    """Return a text as a cell that no spreadsheet evaluates; numbers (also negative) stay as is."""
    if _FORMULA.match(text) and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text


def csv_lines(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield each row as a line of CSV with its line feed, with formulas escaped."""
    writer = csv.writer(_Echo(), lineterminator="\n")
    for row in rows:
        yield writer.writerow([cell(text) for text in row])


def csv_response(rows: Iterable[Sequence[str]], name: str = "") -> StreamingHttpResponse:
    """Return rows as a table to download; `name` is that of the file that a browser saves."""
    response = StreamingHttpResponse(csv_lines(rows), content_type="text/csv; charset=utf-8")
    if name:
        response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


class _Echo:
    """A file object whose `write` returns the text."""

    def write(self, text: str) -> str:
        return text
