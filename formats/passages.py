"""Passages: a document's text cut into overlapping windows of words, with ids that lead back.

The id of a passage is that of its document, an underscore and a number from 1: `FT911-3_2`. Every
passage has exactly one such ending, also that of a document with a single passage, so the document
is what stands before the last underscore: `a_3_1` is of document `a_3`, and `a_3` of document `a`
(`formats.maxp.document_of`).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from formats.maxp import SEPARATOR

WORDS, OVERLAP = 400, 200
# A run of other characters than white space is a word; of scripts without blanks between words
# (Chinese, Japanese) each character is one.
_HAN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(f"[{_HAN}]|[^\\s{_HAN}]+")
# The word that ends a sentence.
_LAST = re.compile(r"[.!?…。！？][\"'”’»)\]」』]*$")


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
    """Raise ValueError with a sentence where passages of this size would not move on."""
    if words < 1:
        raise ValueError("A passage has at least one word.")
    if not 0 <= overlap < words:
        raise ValueError(
            f"Passages of {words:,} words cannot overlap by {overlap:,}. Choose an overlap from 0 "
            f"to {words - 1:,}."
        )


def cut(
    text: str, *, words: int = WORDS, overlap: int = OVERLAP, at_sentences: bool = False
) -> list[Passage]:
    """Cut a text into passages of `words` words, each repeating `overlap` of the one before.

    The last may be shorter. `at_sentences`: passages begin and end with a sentence and have at most
    so many words, unless one sentence alone has more. A text without a word is one passage.
    """
    check_size(words, overlap)
    spans = [found.span() for found in _WORD.finditer(text)]
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
    """Put whole sentences together; what a sentence is longer than a passage is cut by words."""
    borders = [0]
    for number, ((start, end), after) in enumerate(pairwise([*spans, (len(text), len(text))])):
        ends = _LAST.search(text[start:end]) is not None or "\n\n" in text[end : after[0]]
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
        # The next passage repeats the last sentences that are not more than the overlap.
        begin = end
        while begin - 1 > at and parts[end - 1][1] - parts[begin - 1][0] <= overlap:
            begin -= 1
        at = begin


def excerpts(text: str, spans: Iterable[tuple[int, int]], *, share: int) -> list[Passage]:
    """Return passages around these spans of a text, with at most `share` percent of its characters.

    What the spans hold comes first, in their order; then each grows by a word on both sides for as
    long as there is room. A span for which there is no room is cut at a word, or left out.
    """
    room = len(text) * share // 100
    kept: list[list[int]] = []
    for start, end in _merged(spans, len(text)):
        end = _cut_at_word(text, start, min(end, start + room))
        if end > start:
            kept.append([start, end])
            room -= end - start
    starts = [found.start() for found in _WORD.finditer(text)]
    ends = [found.end() for found in _WORD.finditer(text)]
    growing = bool(kept)
    while growing:
        growing = False
        for number, span in enumerate(kept):
            low = kept[number - 1][1] if number else 0
            high = kept[number + 1][0] if number + 1 < len(kept) else len(text)
            for side, to in ((0, _before(starts, span[0])), (1, _after(ends, span[1]))):
                if to is None or not low <= to <= high:
                    continue
                more = abs(span[side] - to)
                if more <= room:
                    span[side] = to
                    room -= more
                    growing = True
    return [Passage(number, start, end) for number, (start, end) in enumerate(kept, 1)]


def _merged(spans: Iterable[tuple[int, int]], length: int) -> list[tuple[int, int]]:
    """Put spans in order, those that touch or overlap as one; leave out what is not in the text."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        start, end = max(0, start), min(end, length)
        if start >= end:
            continue
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def _cut_at_word(text: str, start: int, end: int) -> int:
    """Return the end of the last whole word before `end`; `start` where there is none."""
    if end >= len(text) or text[end].isspace() or (end > start and text[end - 1].isspace()):
        return end
    words = [found.end() for found in _WORD.finditer(text, start, end)]
    whole = _WORD.match(text, max(start, end - 1))
    if whole is not None and whole.end() > end:
        words = words[:-1]
    return words[-1] if words else start


def _before(starts: Sequence[int], at: int) -> int | None:
    """Return where the word before a place begins."""
    number = bisect_left(starts, at)
    return starts[number - 1] if number else None


def _after(ends: Sequence[int], at: int) -> int | None:
    """Return where the word behind a place ends."""
    number = bisect_left(ends, at + 1)
    return ends[number] if number < len(ends) else None
