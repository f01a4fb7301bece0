"""SMART files, as of Cranfield, CACM and MED: `.I`, then `.T`, `.A`, `.B`, `.W` sections.

Source: cran.all.1400, cran.qry and cranqrel of the Cranfield collection.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from formats.reading import (
    MAX_RECORD,
    SeenKeys,
    SeenPairs,
    one_line,
    parse_relevance,
    reader,
    split_columns,
    strip_lines,
)
from formats.records import Doc, Qrel, Topic
from formats.source import Source
from formats.texts import check_id

_SECTION = re.compile(r"\.([A-Z])\s*")
_NUMBER = re.compile(r"\.I[ \t]+(.*)")


class _Entry(NamedTuple):
    line: int
    number: str
    sections: dict[str, str]


def _read_entries(source: Source) -> Iterator[_Entry]:
    """Yield the entries of a file: each reaches from one `.I` to the next."""
    line = 0
    number = ""
    sections: dict[str, list[str]] = {}
    lines: list[str] | None = None
    length = 0
    for text in source.lines():
        current = source.line or 0
        if text.startswith("."):
            if match := _NUMBER.fullmatch(text):
                if number:
                    yield _make_entry(source, line, number, sections)
                line, number, sections, lines, length = (
                    current,
                    match[1].strip(" \t"),
                    {},
                    None,
                    0,
                )
                source.line = line
                if not number:
                    source.refuse("an entry has no number after .I")
                continue
            if match := _SECTION.fullmatch(text):
                lines = sections.setdefault(match[1], [])
                continue
        if lines is not None and number:
            lines.append(text)
            length += len(text)
            if length > MAX_RECORD:
                source.refuse_all(f"the entry that begins on line {line} does not end")
                return
        elif text.strip():
            source.refuse("text outside of a section: an entry begins with .I and its number")
            if source.broken:
                return
    if number and not source.broken:
        yield _make_entry(source, line, number, sections)


def _make_entry(source: Source, line: int, number: str, sections: dict[str, list[str]]) -> _Entry:
    source.line, source.text = line, None
    return _Entry(line, number, {name: strip_lines("\n".join(ls)) for name, ls in sections.items()})


def _report_left_out(source: Source, entry: _Entry, kept: str) -> None:
    for name, text in entry.sections.items():
        if text and name not in kept:
            source.leave_out(f".{name}")


@reader("smart-docs", "document")
def read_docs(source: Source) -> Iterator[Doc]:
    """Yield documents: `.I` is the id, `.T` the title, `.W` the text; the rest is not kept."""
    seen = SeenKeys()
    for entry in _read_entries(source):
        try:
            check_id(entry.number, "the number after .I")
        except ValueError as error:
            source.refuse(str(error))
            continue
        if first := seen.first_line(entry.number, entry.line):
            source.refuse(f"document {entry.number} was already on line {first}")
            continue
        _report_left_out(source, entry, "TW")
        yield Doc(entry.number, one_line(entry.sections.get("T", "")), entry.sections.get("W"))


@reader("smart-queries", "query")
def read_queries(source: Source) -> Iterator[Topic]:
    """Yield queries. The id is the position from 1, because the qrels refer to it.

    The number after `.I` is not kept (in cran.qry it has gaps). `.W` is the title.
    """
    for position, entry in enumerate(_read_entries(source), start=1):
        words = one_line(entry.sections.get("W", ""))
        title = words or one_line(entry.sections.get("T", ""))
        _report_left_out(source, entry, "W" if words else "TW")
        if entry.number.lstrip("0") != str(position):
            source.leave_out(".I")
        yield Topic(str(position), title)


@reader("smart-qrels", "qrels line")
def read_qrels(source: Source) -> Iterator[Qrel]:
    """Yield lines of `query document code`. The code is kept unchanged.

    Cranfield's codes run in the opposite direction: 1 is a complete answer, 4 of minimum interest;
    -1 occurs once per query. The reader does not convert them: a project that loads them defines
    what its grades mean.
    """
    pairs = SeenPairs()
    for line in source.lines():
        fields = split_columns(line)
        if not fields:
            continue
        if len(fields) != 3:
            source.refuse(f"a line has 3 columns (query document code), this has {len(fields)}")
            continue
        number = source.line or 0
        try:
            query_id = check_id(fields[0], "the query number")
            doc_id = check_id(fields[1], "the document number")
            relevance = parse_relevance(fields[2])
        except ValueError as error:
            source.refuse(str(error))
            continue
        if number % 10_000 == 0:
            pairs.forget_if_many()
        earlier = pairs.of_topic(query_id).setdefault(doc_id, (relevance, number))
        if earlier[0] != relevance:
            source.refuse(
                f"document {doc_id} of query {query_id} has code {relevance} here "
                f"and {earlier[0]} on line {earlier[1]}"
            )
            continue
        yield Qrel(query_id, doc_id, relevance)
