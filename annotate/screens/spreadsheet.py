"""Tables that people open in a spreadsheet, as CSV made on its way out.

A spreadsheet computes what begins like a formula, and a formula can send what stands beside it
elsewhere; so such a cell goes out with an apostrophe before it, which spreadsheets take for "this
is text". Files for programs (exports, releases, what is loaded again) never pass here: they keep
every byte.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence

# What makes a formula at the start of a cell, also where blanks stand before it; the wide forms
# are read like the narrow ones.
_FORMULA = re.compile(r"\s*[=+\-@\t\r\n＝＋－＠]")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")


def cell(text: str) -> str:
    """A text as a cell that no spreadsheet computes; numbers, negative ones too, stay numbers."""
    if _FORMULA.match(text) and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text


def lines(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the rows of a table as lines of CSV, one at a time."""
    writer = csv.writer(_Echo(), lineterminator="\n")
    for row in rows:
        yield writer.writerow([cell(text) for text in row])


class _Echo:
    """A file that gives back what is written to it, for a table that is made on its way out."""

    def write(self, text: str) -> str:
        return text
