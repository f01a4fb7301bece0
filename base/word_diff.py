"""The word diff of two narratives.

PURE: no Django. `static/js/diff.js` shows the same diff while someone types.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from difflib import SequenceMatcher
from enum import StrEnum
from typing import NamedTuple

_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")
# A sentence with the white space after it, or a line.
_SENTENCE = re.compile(r"[^.!?。！？؟\n]*(?:[.!?。！？؟\n]+\s*|$)")

# Comparing words takes time proportional to the product of the lengths. Up to so many pairs of
# tokens (about 700 words with 700) are compared directly; longer texts by sentences first.
_MOST = 2_000_000
# Each run that is kept costs a look at all pairs of equal tokens, blanks among them. Up to so many
# pairs (about 200 words with 200) are compared directly, so that no text takes time with the cube
# of its length.
_MOST_EQUAL = 40_000


class Op(StrEnum):
    """What happened to a piece of text."""

    KEPT = "kept"
    REMOVED = "removed"
    ADDED = "added"


class Piece(NamedTuple):
    """A run of words with the same operation."""

    op: Op
    text: str


def diff(before: str, after: str) -> list[Piece]:
    """Return the pieces that turn `before` into `after`, by whole words and punctuation marks.

    The kept and removed pieces joined are `before`; the kept and added ones are `after`. White
    space between two changed words is part of the change, so that a rewritten sentence reads as one
    change. Long texts are compared by sentences, and changed sentences by words as long as the
    budgets of `_MOST` pairs and `_MOST_EQUAL` equal pairs last.
    """
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    if len(old) * len(new) > _MOST or _equal_pairs(old, new) > _MOST_EQUAL:
        return _by_sentences(before, after)
    return _by_words(old, new)


def before_pieces(pieces: list[Piece]) -> list[Piece]:
    """Return the pieces that make up the older text."""
    return [piece for piece in pieces if piece.op is not Op.ADDED]


def is_rewritten(pieces: Iterable[tuple[str, str]]) -> bool:
    """Return whether less than a third of the newer text is kept from the older one.

    Marking changes between texts that share only short words would show a jumble.
    """
    kept = whole = 0
    for op, text in pieces:
        kept += len(text) * (op == Op.KEPT)
        whole += len(text) * (op != Op.REMOVED)
    return kept * 3 < whole


def _equal_pairs(old: list[str], new: list[str]) -> int:
    """Return how many pairs of equal tokens, one of each text, there are."""
    counts = Counter(new)
    return sum(count * counts[token] for token, count in Counter(old).items())


def _by_sentences(before: str, after: str) -> list[Piece]:
    old, new = _SENTENCE.findall(before), _SENTENCE.findall(after)
    left, equal_left = _MOST, _MOST_EQUAL
    pieces: list[Piece] = []
    # autojunk stays on: it ignores very frequent sentences, which would make this quadratic again.
    for tag, a_from, a_to, b_from, b_to in SequenceMatcher(a=old, b=new).get_opcodes():
        removed, added = "".join(old[a_from:a_to]), "".join(new[b_from:b_to])
        if tag == "equal":
            if removed:
                pieces.append(Piece(Op.KEPT, removed))
            continue
        words, others = _TOKEN.findall(removed), _TOKEN.findall(added)
        size, equal = len(words) * len(others), _equal_pairs(words, others)
        if size <= left and equal <= equal_left:
            left, equal_left = left - size, equal_left - equal
            pieces.extend(_by_words(words, others))
            continue
        pieces.extend(
            Piece(op, text) for op, text in ((Op.REMOVED, removed), (Op.ADDED, added)) if text
        )
    return pieces


def _by_words(old: list[str], new: list[str]) -> list[Piece]:
    pieces: list[Piece] = []
    removed: list[str] = []
    added: list[str] = []

    def flush() -> None:
        for op, words in ((Op.REMOVED, removed), (Op.ADDED, added)):
            if words:
                pieces.append(Piece(op, "".join(words)))
                words.clear()

    matcher = SequenceMatcher(a=old, b=new, autojunk=False)
    for tag, a_from, a_to, b_from, b_to in matcher.get_opcodes():
        if tag != "equal":
            removed.extend(old[a_from:a_to])
            added.extend(new[b_from:b_to])
            continue
        kept = "".join(old[a_from:a_to])
        if kept.isspace() and (removed or added) and b_to < len(new) and a_to < len(old):
            # White space between two changes is part of both.
            removed.append(kept)
            added.append(kept)
            continue
        flush()
        pieces.append(Piece(Op.KEPT, kept))
    flush()
    return pieces
