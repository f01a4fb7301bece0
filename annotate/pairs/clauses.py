"""The clauses of a narrative: the parts that a judge can mark as decisive. Pure.

A clause is a sentence or a part of one: sentences are divided at semicolons, and at commas before a
word that opens a condition ("but", "unless", "except").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from annotate.collection.marking import Span
from base.word_diff import Op

# Where a clause may end: at punctuation that ends a sentence (with closing quotes and brackets), at
# a semicolon, or at a line end before a list item or a new paragraph. The full stops of Chinese,
# Japanese, Arabic, Urdu and Hindi need no blank after them.
_CLOSING = r"[\"'”’»)\]」』）】]*"
# Possessive, and never from within a run of stops: a long run would be tried again at each of them.
_BREAK = re.compile(
    rf"(?P<stop>(?<![.!?…])[.!?…]++{_CLOSING}+)(?=\s)"
    rf"|(?P<full>[。！？．؟۔।]++{_CLOSING}+)"
    r"|(?P<semi>;(?=\s)|[；؛])"
    r"|(?P<line>\n(?=[^\S\n]*+\n|[ \t]*+(?:[-*•–]|\d{1,3}[.)])\s))"
    r"|(?P<comma>,(?=\s)|[，،])"
)
# A full stop after these does not end a sentence; after the numbered ones not if a number follows.
_ABBREVIATED = re.compile(
    r"(?:\b(?:e\.g|i\.e|cf|vs|viz|al|approx|esp|incl|excl|dr|mr|mrs|ms|prof|st|jan|feb|mar|apr|jun"
    r"|jul|aug|sept|sep|oct|nov|dec)"
    r"|(?:^|[\s(\"'“‘])[^\W\d_](?:\.[^\W\d_])*|^\s*\d{1,3})\.$",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"\b(?:nos?|figs?|sec|vol|p|pp|art|ch)\.$", re.IGNORECASE)
# Words that open a new clause after a comma.
_OPENING = re.compile(
    r"\s*+(?:(?:but|unless|except|excluding|however|although|though|while|whereas|provided|if|when|"
    r"where|which|who|whose|and not|or if|and if|nor|not|only|regardless|even|rather|so long as|"
    r"as long as|such as|including|without|aber|außer|sofern|wenn|sauf|mais|pero|salvo|excepto)\b"
    r"|但|除非|除了|如果|不过|然而|而且|且|إلا|لكن|ولكن|باستثناء|ما لم)",
    re.IGNORECASE,
)
_VISIBLE = re.compile(r"\S")
# A shorter piece is not a clause: it is joined to its neighbour.
_LEAST = 6


class DiffPart(NamedTuple):
    """A piece of a narrative's diff with one operation, within one clause or between two.

    `clause` is the number of the clause, from 0, or None between clauses.
    """

    clause: int | None
    op: Op
    text: str


def clauses(text: str) -> list[Span]:
    """Return the clauses of a text in order: not empty, without blanks at either end.

    Every character that is not a blank is in exactly one of them.
    """
    spans: list[Span] = []
    # The first character of the clause that has begun, after its blanks.
    start = _skip_blanks(text, 0)
    for at in _BREAK.finditer(text):
        kind, end = at.lastgroup, at.end()
        if end <= start or (kind == "stop" and _is_abbreviation(text, start, end)):
            continue
        if kind == "comma" and not (
            end - start >= _LEAST and _OPENING.match(text, end) and _has_text_after(text, end)
        ):
            continue
        spans.append(_trimmed_span(text, start, end))
        start = _skip_blanks(text, end)
    if start < len(text):
        spans.append(_trimmed_span(text, start, len(text)))
    return spans


def overlapping_clauses(spans: Sequence[Span], marked: Iterable[Span]) -> list[int]:
    """Return the numbers, from 0, of the clauses in `spans` that overlap a marked span."""
    chosen = list(marked)
    return [
        place
        for place, clause in enumerate(spans)
        if any(words.start < clause.end and clause.start < words.end for words in chosen)
    ]


def split_diff(pieces: Iterable[tuple[Op, str]], spans: Sequence[Span]) -> list[DiffPart]:
    """Cut the pieces of a diff at the clauses of its newer text.

    Removed text has no position in the newer text: it belongs to the clause around it, if any.
    """
    cut: list[DiffPart] = []
    at, number = 0, 0
    for op, text in pieces:
        if op == Op.REMOVED:
            within = number < len(spans) and spans[number].start < at
            cut.append(DiffPart(number if within else None, op, text))
            continue
        begin, end = at, at + len(text)
        while at < end:
            if number == len(spans) or end <= spans[number].start:
                cut.append(DiffPart(None, op, text[at - begin :]))
                at = end
                continue
            clause = spans[number]
            inside = at >= clause.start
            upto = min(end, clause.end if inside else clause.start)
            cut.append(DiffPart(number if inside else None, op, text[at - begin : upto - begin]))
            at = upto
            if at == clause.end:
                number += 1
    return cut


def _skip_blanks(text: str, start: int) -> int:
    """Return the position of the next character that is not a blank, or the end of the text."""
    visible = _VISIBLE.search(text, start)
    return visible.start() if visible is not None else len(text)


def _is_abbreviation(text: str, start: int, end: int) -> bool:
    """Return whether the full stop at `end` only marks an abbreviation."""
    before = text[max(start, end - 12) : end]
    if _NUMBERED.search(before):
        return text[end : end + 2].strip()[:1].isdigit()
    return _ABBREVIATED.search(before) is not None


def _has_text_after(text: str, end: int) -> bool:
    """Return whether enough text for a clause follows before the next punctuation or the end."""
    following = re.match(r"[^.!?;。！？；؛\n]*", text[end : end + 200])
    return following is not None and len(following.group().strip()) >= _LEAST


def _trimmed_span(text: str, start: int, end: int) -> Span:
    inner = text[start:end]
    return Span(start + len(inner) - len(inner.lstrip()), end - (len(inner) - len(inner.rstrip())))
