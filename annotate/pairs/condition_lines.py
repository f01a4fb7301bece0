"""Conditions as typed by their writer: one per line, optionally with a name before it. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

# More would not be a narrative, and a judge answers each condition for every document.
MAX_LINES = 20
MAX_NAME = 120
MAX_TEXT = 2_000


class InvalidLines(ValueError):
    """The lines are not valid; the attributes are the figures for the error message.

    `line` is too long (`length` characters) or repeats line `other`; if `line` is 0, there are too
    many conditions (`length` of them).
    """

    def __init__(self, *, length: int = 0, line: int = 0, other: int = 0) -> None:
        super().__init__(f"conditions: line {line}, like {other}, {length} long")
        self.length = length
        self.line = line
        self.other = other


class Line(NamedTuple):
    """One condition: its name (may be empty) and its text."""

    name: str
    text: str


def read(text: str) -> list[Line]:
    """Parse conditions in their order; lines without text are skipped.

    `audience: for children` has a name; a line that begins with a colon has none, whatever follows.
    Raises InvalidLines for more than MAX_LINES, for one that is too long and for a repeated one.
    """
    lines: list[Line] = []
    first: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        condition = _parse_line(line)
        if not condition.text:
            continue
        if len(condition.text) > MAX_TEXT:
            raise InvalidLines(line=number, length=len(condition.text))
        key = condition.text.casefold()
        if key in first:
            raise InvalidLines(line=number, other=first[key])
        first[key] = number
        lines.append(condition)
    if len(lines) > MAX_LINES:
        raise InvalidLines(length=len(lines))
    return lines


def write(conditions: Iterable[tuple[str, str]]) -> str:
    """Return conditions, given as (name, text), one per line as `read` parses them."""
    return "\n".join(
        _format_line(_collapse_blanks(name), _collapse_blanks(text)) for name, text in conditions
    )


def _parse_line(line: str) -> Line:
    flat = _collapse_blanks(line)
    name, colon, text = flat.partition(": ")
    if flat.startswith(": "):
        return Line("", flat[2:])
    if colon and len(name) <= MAX_NAME:
        return Line(name, text)
    return Line("", flat)


def _format_line(name: str, text: str) -> str:
    if name:
        return f"{name}: {text}"
    return f": {text}" if _parse_line(text) != Line("", text) else text


def _collapse_blanks(text: str) -> str:
    return " ".join(text.split())
