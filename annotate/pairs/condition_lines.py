"""Conditions as typed by their writer: one per line, optionally with a name before it. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

# More would not be a narrative, and a judge answers each condition for every document.
MOST = 20
MAX_NAME = 120
MAX_TEXT = 2_000


class Wrong(ValueError):
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
    Raises Wrong for more than MOST conditions, for one that is too long and for a repeated one.
    """
    found: list[Line] = []
    first: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        one = _line(line)
        if not one.text:
            continue
        if len(one.text) > MAX_TEXT:
            raise Wrong(line=number, length=len(one.text))
        same = one.text.casefold()
        if same in first:
            raise Wrong(line=number, other=first[same])
        first[same] = number
        found.append(one)
    if len(found) > MOST:
        raise Wrong(length=len(found))
    return found


def write(conditions: Iterable[tuple[str, str]]) -> str:
    """Return conditions, given as (name, text), one per line as `read` parses them."""
    return "\n".join(_written(_flat(name), _flat(text)) for name, text in conditions)


def _line(line: str) -> Line:
    flat = _flat(line)
    name, colon, text = flat.partition(": ")
    if flat.startswith(": "):
        return Line("", flat[2:])
    if colon and len(name) <= MAX_NAME:
        return Line(name, text)
    return Line("", flat)


def _written(name: str, text: str) -> str:
    if name:
        return f"{name}: {text}"
    return f": {text}" if _line(text) != Line("", text) else text


def _flat(text: str) -> str:
    return " ".join(text.split())
