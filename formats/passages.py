"""Passages: a document's text cut into overlapping windows of words, with ids that name it.

The id of a passage is the id of its document, an underscore and a number from 1: `FT911-3_2`. Every
passage has such an ending, even if it is the only one of its document. So the part before the last
underscore is the document's id: `a_3_1` is a passage of document `a_3`, and `a_3` one of document
`a` (`document_of`).

MaxP turns a ranking of passages into one of documents: a document has the score of its best passage
(Dai and Callan, SIGIR 2019).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from formats.records import RunLine

WORDS, OVERLAP = 400, 200
# A word is a run of characters other than white space. In scripts without spaces between words
# (Chinese, Japanese), each character is a word.
_HAN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(f"[{_HAN}]|[^\\s{_HAN}]+")
# Matches a word that ends a sentence.
_SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’»)\]」』]*$")

SEPARATOR = "_"


class Passage(NamedTuple):
    """A part of a text: its number from 1, and its characters from `start` up to `end`."""

    number: int
    start: int
    end: int


def passage_id(doc_id: str, number: int) -> str:
    """Return the id of a passage.

    >>> passage_id("FT911-3", 2)
    'FT911-3_2'
    """
    return f"{doc_id}{SEPARATOR}{number}"


def check_size(words: int, overlap: int) -> None:
    """Raise ValueError with a sentence if passages of this size would not advance."""
    if words < 1:
        raise ValueError("A passage has at least one word.")
    if not 0 <= overlap < words:
        raise ValueError(
            f"Passages of {words:,} words cannot overlap by {overlap:,}. Choose an overlap from 0 "
            f"to {words - 1:,}."
        )


def cut_passages(
    text: str, *, words: int = WORDS, overlap: int = OVERLAP, at_sentences: bool = False
) -> list[Passage]:
    """Cut a text into passages of `words` words, each repeating `overlap` of the one before.

    The last may be shorter. With `at_sentences`, passages begin and end with a sentence and have
    at most `words` words; a longer sentence is cut. A text without words is one passage.
    """
    check_size(words, overlap)
    spans = [word.span() for word in _WORD.finditer(text)]
    if not spans:
        return [Passage(1, 0, len(text))]
    windows = (
        _sentence_windows(text, spans, words, overlap)
        if at_sentences
        else _word_windows(len(spans), words, overlap)
    )
    return [
        Passage(number, spans[first][0], spans[last - 1][1])
        for number, (first, last) in enumerate(windows, 1)
    ]


def _word_windows(count: int, words: int, overlap: int) -> list[tuple[int, int]]:
    windows = [(0, min(words, count))]
    while windows[-1][1] < count:
        first = windows[-1][0] + words - overlap
        windows.append((first, min(first + words, count)))
    return windows


def _sentence_windows(
    text: str, spans: Sequence[tuple[int, int]], words: int, overlap: int
) -> list[tuple[int, int]]:
    """Group whole sentences into windows; cut sentences longer than a passage by words."""
    borders = [0]
    for number, ((start, end), after) in enumerate(pairwise([*spans, (len(text), len(text))])):
        ends = _SENTENCE_END.search(text[start:end]) is not None or "\n\n" in text[end : after[0]]
        if ends or number + 1 == len(spans):
            borders.append(number + 1)
    parts: list[tuple[int, int]] = []
    for first, last in pairwise(borders):
        parts += [(at, min(at + words, last)) for at in range(first, last, words)]
    windows: list[tuple[int, int]] = []
    at = 0
    while True:
        end = at + 1
        while end < len(parts) and parts[end][1] - parts[at][0] <= words:
            end += 1
        windows.append((parts[at][0], parts[end - 1][1]))
        if end == len(parts):
            return windows
        # The next passage repeats as many last sentences as fit in the overlap.
        begin = end
        while begin - 1 > at and parts[end - 1][1] - parts[begin - 1][0] <= overlap:
            begin -= 1
        at = begin


def excerpts(text: str, spans: Iterable[tuple[int, int]], *, share: int) -> list[Passage]:
    """Return passages around spans of a text, with at most `share` percent of its characters.

    The spans themselves come first, in order; then each grows by a word on both sides while there
    is room. A span that does not fit is cut at a word, or left out.
    """
    room = len(text) * share // 100
    kept: list[list[int]] = []
    for start, end in _merge_spans(spans, len(text)):
        end = _end_at_word(text, start, min(end, start + room))
        if end > start:
            kept.append([start, end])
            room -= end - start
    starts = [word.start() for word in _WORD.finditer(text)]
    ends = [word.end() for word in _WORD.finditer(text)]
    # The spans that grew in the last turn: one that has no room will have none later.
    growing = list(range(len(kept)))
    while growing:
        grown: list[int] = []
        for number in growing:
            span = kept[number]
            before = list(span)
            low = kept[number - 1][1] if number else 0
            high = kept[number + 1][0] if number + 1 < len(kept) else len(text)
            for side, to in (
                (0, _word_start_before(starts, span[0])),
                (1, _word_end_after(ends, span[1])),
            ):
                if to is None or not low <= to <= high:
                    continue
                more = abs(span[side] - to)
                if more <= room:
                    span[side] = to
                    room -= more
            if span != before:
                grown.append(number)
        growing = grown
    return [Passage(number, start, end) for number, (start, end) in enumerate(kept, 1)]


def _merge_spans(spans: Iterable[tuple[int, int]], length: int) -> list[tuple[int, int]]:
    """Sort spans and join those that touch or overlap; leave out parts outside the text."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        start, end = max(0, start), min(end, length)
        if start >= end:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def _end_at_word(text: str, start: int, end: int) -> int:
    """Return the end of the last whole word before `end`; `start` if there is none."""
    if end >= len(text) or text[end].isspace() or (end > start and text[end - 1].isspace()):
        return end
    words = [word.end() for word in _WORD.finditer(text, start, end)]
    whole = _WORD.match(text, max(start, end - 1))
    if whole is not None and whole.end() > end:
        words = words[:-1]
    return words[-1] if words else start


def _word_start_before(starts: Sequence[int], at: int) -> int | None:
    """Return where the word before a position begins."""
    number = bisect_left(starts, at)
    return starts[number - 1] if number else None


def _word_end_after(ends: Sequence[int], at: int) -> int | None:
    """Return where the word after a position ends."""
    number = bisect_left(ends, at + 1)
    return ends[number] if number < len(ends) else None


def document_of(passage: str) -> str:
    """Return the document of a passage; raise ValueError if this is not a passage's id.

    >>> document_of("FT911-3_2"), document_of("a_b_10")
    ('FT911-3', 'a_b')
    """
    doc_id, separator, number = passage.rpartition(SEPARATOR)
    if not (separator and doc_id and number.isascii() and number.isdigit()):
        raise ValueError(
            f"{passage} is not the id of a passage, which is the id of its document, an underscore "
            "and a number, as in FT911-3_2"
        )
    return doc_id


def rank_documents(passages: Iterable[RunLine]) -> Iterator[RunLine]:
    """Yield the documents of each query, best first, with the score of their best passage.

    Queries keep the order of their first occurrence. Ties are broken as in trec_eval: by
    descending document id.
    """
    best: dict[str, dict[str, float]] = {}
    tags: dict[str, str] = {}
    for line in passages:
        doc_id = document_of(line.doc_id)
        scores = best.setdefault(line.query_id, {})
        tags.setdefault(line.query_id, line.tag)
        if doc_id not in scores or line.score > scores[doc_id]:
            scores[doc_id] = line.score
    for query_id, scores in best.items():
        order = sorted(scores, key=lambda doc_id: doc_id.encode(), reverse=True)
        order.sort(key=scores.__getitem__, reverse=True)
        for rank, doc_id in enumerate(order, 1):
            yield RunLine(query_id, doc_id, rank, scores[doc_id], tags[query_id])
