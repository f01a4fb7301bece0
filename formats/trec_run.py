"""TREC runs: what a system returned for each query, with ranks and scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO

from formats.reading import (
    SeenPairs,
    column_splitter,
    count_columns,
    has_valid_ids,
    reader,
    split_columns,
    write_lines,
)
from formats.records import RunLine
from formats.source import Source
from formats.texts import MAX_ID, CannotHold, check_id, excerpt


@reader("trec-run", "run line")
def read_run(source: Source) -> Iterator[RunLine]:
    """Yield lines of `query_id Q0 doc_id rank score tag`.

    Columns are separated by runs of spaces or tabs. trec_eval ignores everything after the sixth
    column. This reader does so only if the line cannot be one whose document id has a space: its
    rank is a number, and its tag is not.

    Lines keep the order of the file: sort them with `by_score`. The rank is kept but not trusted.
    A document that occurs twice in a topic (within the last 200,000 lines) is refused with both
    line numbers, as in trec_eval.
    """
    ranks: dict[str, int | None] = {}
    pairs = SeenPairs()
    topic: str | None = None
    documents: dict[str, tuple[int, int]] = {}
    make = tuple.__new__
    for start, lines in source.blocks():
        if pairs.forget_if_many():
            topic = None
        split = column_splitter(lines)
        ids_need_check = split is not str.split or max(map(len, lines)) > MAX_ID
        for number, line in enumerate(lines, start):
            try:
                query_id, _, doc_id, rank, score_text, tag = split(line)
                score = float(score_text)
                is_valid = score - score == 0 and "_" not in score_text and score_text.isascii()
            except ValueError:
                is_valid = False
            if not is_valid:
                if (parsed := _parse_odd_line(source, number, line)) is None:
                    if source.broken:
                        return
                    continue
                query_id, doc_id, rank, score, tag = parsed
            if ids_need_check and not has_valid_ids(source, number, line, query_id, doc_id):
                continue
            if query_id != topic:
                topic = query_id
                documents = pairs.of_topic(query_id)
            first = documents.setdefault(doc_id, (number, 0))
            if first[0] != number:
                source.refuse(
                    f"document {doc_id} occurs twice in topic {query_id}: "
                    f"first on line {first[0]}, again on line {number}",
                    line=number,
                    text=line,
                )
                continue
            if rank not in ranks:
                if len(ranks) > 100_000:
                    ranks.clear()
                ranks[rank] = _parse_rank(rank)
            source.line = number
            source.text = line
            yield make(RunLine, (query_id, doc_id, ranks[rank], score, tag))


def _parse_odd_line(
    source: Source, number: int, line: str
) -> tuple[str, str, str, float, str] | None:
    """Parse a line that the fast path rejected: blank, more than six columns, or bad.

    Return None if it has no run line; a bad line is refused.
    """
    fields = split_columns(line)
    if not fields:
        return None
    if len(fields) < 6 or (len(fields) > 6 and not _has_extra_columns(fields)):
        hint = "; does an id contain a space?" if len(fields) > 6 else ""
        source.refuse(
            "a run line has 6 columns (query_id Q0 doc_id rank score tag), "
            f"this has {count_columns(fields)}{hint}",
            line=number,
            text=line,
        )
        return None
    query_id, _, doc_id, rank, score_text, tag = fields[:6]
    score = _parse_score(score_text)
    if score is None:
        source.refuse(
            f"the score {excerpt(score_text, 40)!r} is not a number", line=number, text=line
        )
        return None
    if len(fields) > 6:
        source.line = number
        source.leave_out("column 7 and after")
    return query_id, doc_id, rank, score, tag


def _has_extra_columns(fields: list[str]) -> bool:
    """Return whether a run line of more than six columns can be read in only one way."""
    return _parse_rank(fields[3]) is not None and _parse_score(fields[5]) is None


def _parse_score(text: str) -> float | None:
    """Return a finite number written in ASCII, or None."""
    try:
        score = float(text)
    except ValueError:
        return None
    return score if score - score == 0 and "_" not in text and text.isascii() else None


def _parse_rank(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def write_run(records: Iterable[RunLine], stream: IO[bytes]) -> int:
    """Write `query_id Q0 doc_id rank score tag`; scores in the shortest form that reads back."""

    def lines() -> Iterator[str]:
        for query_id, doc_id, rank, score, tag in records:
            rank_text = "-" if rank is None else str(rank)
            line = f"{query_id} Q0 {doc_id} {rank_text} {score!r} {tag}"
            check_id(tag, "tag")
            check_id(query_id, "query_id")
            check_id(doc_id, "doc_id")
            if score - score != 0:
                raise CannotHold(f"the score of {doc_id} in topic {query_id} is {score}")
            yield line

    return write_lines(lines(), stream)
