"""Tables for people, written on their way out, line by line: memory does not grow with them.

A spreadsheet computes what begins like a formula, and a formula can send what stands beside it
elsewhere; so such a cell goes out with an apostrophe before it, which says "this is text". Files
for programs (exports, releases, what is loaded again) never pass here: they keep every byte.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence

# What makes a formula at the start of a cell, also behind blanks; the wide forms are read like the
# narrow ones.
_FORMULA = re.compile(r"\s*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")


def cell(text: str) -> str:
    """A text as a cell that no spreadsheet computes; numbers, negative ones too, stay numbers."""
    if _FORMULA.match(text) and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text


def csv_lines(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield each row as a line of CSV with its line feed, no cell of it a formula."""
    writer = csv.writer(_Echo(), lineterminator="\n")
    for row in rows:
        yield writer.writerow([cell(text) for text in row])


class _Echo:
    """A file that gives back what is written to it."""

    def write(self, text: str) -> str:
        return text
