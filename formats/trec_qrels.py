"""TREC qrels: a query, an iteration, a document and its relevance on each line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO

from formats.reading import (
    SeenPairs,
    column_splitter,
    count_columns,
    has_valid_ids,
    parse_relevance,
    reader,
    split_columns,
    write_lines,
)
from formats.records import Qrel
from formats.source import Source
from formats.texts import MAX_ID, CannotHold, check_id


@reader("trec-qrels", "qrels line")
def read_qrels(source: Source) -> Iterator[Qrel]:
    """Yield lines of `query_id iteration doc_id relevance`.

    Columns are separated by runs of spaces or tabs. A line that starts with `#` is a comment. A
    line that repeats another is accepted; one that contradicts another of the last 200,000 lines
    is refused with both line numbers.
    """
    grades: dict[str, int] = {}
    pairs = SeenPairs()
    topic: str | None = None
    documents: dict[str, tuple[int, int]] = {}
    make = tuple.__new__
    for start, lines in source.blocks():
        if pairs.forget_if_many():
            topic = None
        split = column_splitter(lines)
        # An ASCII line that is no longer than MAX_ID cannot have an invalid id.
        ids_need_check = split is not str.split or max(map(len, lines)) > MAX_ID
        for number, line in enumerate(lines, start):
            try:
                query_id, iteration, doc_id, relevance = split(line)
                grade = grades[relevance]
            except (ValueError, KeyError):
                if (qrel := _parse_odd_line(source, number, line, grades)) is None:
                    if source.broken:
                        return
                    continue
                query_id, doc_id, grade, iteration = qrel
            if query_id != topic and query_id[0] == "#":
                continue
            if ids_need_check and not has_valid_ids(source, number, line, query_id, doc_id):
                continue
            if query_id != topic:
                topic = query_id
                documents = pairs.of_topic(query_id)
            earlier = documents.get(doc_id)
            if earlier is None:
                documents[doc_id] = (grade, number)
            elif earlier[0] != grade:
                source.refuse(
                    f"document {doc_id} of topic {query_id} has relevance {grade} here "
                    f"and {earlier[0]} on line {earlier[1]}",
                    line=number,
                    text=line,
                )
                continue
            source.line = number
            source.text = line
            yield make(Qrel, (query_id, doc_id, grade, iteration))


def _parse_odd_line(source: Source, number: int, line: str, grades: dict[str, int]) -> Qrel | None:
    """Parse a line that the fast path rejected: blank, a comment, a grade not seen yet, or bad.

    Return None if it has no qrel; a bad line is refused.
    """
    fields = split_columns(line)
    if not fields or fields[0].startswith("#"):
        return None
    if len(fields) != 4:
        source.refuse(
            "a qrels line has 4 columns (query_id iteration doc_id relevance), "
            f"this has {count_columns(fields)}",
            line=number,
            text=line,
        )
        return None
    query_id, iteration, doc_id, relevance = fields
    try:
        grade = parse_relevance(relevance)
    except ValueError as error:
        source.refuse(str(error), line=number, text=line)
        return None
    if len(grades) < 1_000:
        grades[relevance] = grade
    return Qrel(query_id, doc_id, grade, iteration)


def write_qrels(records: Iterable[Qrel], stream: IO[bytes]) -> int:
    """Write `query_id iteration doc_id relevance`; raise CannotHold for an id with white space."""

    def lines() -> Iterator[str]:
        for query_id, doc_id, relevance, iteration in records:
            line = f"{query_id} {iteration} {doc_id} {relevance}"
            if (
                not line.isascii()
                or len(line) > MAX_ID
                or line.split() != [query_id, iteration, doc_id, str(relevance)]
            ):
                check_id(query_id, "query_id")
                check_id(doc_id, "doc_id")
                check_id(iteration, "iteration")
            if query_id[0] == "#":
                raise CannotHold(f"query_id {query_id!r} would make the line a comment")
            yield line

    return write_lines(lines(), stream)
