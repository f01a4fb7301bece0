"""The word diff of two narratives.

PURE: no Django. `static/js/diff.js` shows the same while one types.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from enum import StrEnum
from typing import NamedTuple

_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")
# A sentence with the blanks behind it, or a line.
_SENTENCE = re.compile(r"[^.!?。！？؟\n]*(?:[.!?。！？؟\n]+\s*|$)")

# Comparing word with word takes time with the product of the lengths: so many pairs of tokens are
# compared at once (about 700 words with 700), and of longer texts sentences first.
_MOST = 2_000_000


class Op(StrEnum):
    """What became of a piece of text."""

    KEPT = "kept"
    REMOVED = "removed"
    ADDED = "added"


class Piece(NamedTuple):
    """A run of words with one fate."""

    op: Op
    text: str


def diff(before: str, after: str) -> list[Piece]:
    """Return the pieces that turn `before` into `after`, whole words and marks of punctuation at a
    time.

    The kept and removed pieces joined are `before`, the kept and added ones `after`. White space
    between two changed words goes with them, so that a rewritten sentence reads as one change.
    Long texts are compared sentence by sentence, and by words within what changed, as far as that
    takes no longer than a moment.
    """
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    if len(old) * len(new) > _MOST:
        return _by_sentences(before, after)
    return _by_words(old, new)


def before_pieces(pieces: list[Piece]) -> list[Piece]:
    """The pieces that make up the older text."""
    return [piece for piece in pieces if piece.op is not Op.ADDED]


def is_anew(pieces: Iterable[tuple[str, str]]) -> bool:
    """Whether little of the older text is left in the newer one.

    Between two texts that only share their small words, marks would show a jumble and no change.
    """
    kept = whole = 0
    for op, text in pieces:
        kept += len(text) * (op == Op.KEPT)
        whole += len(text) * (op != Op.REMOVED)
    return kept * 3 < whole


def _by_sentences(before: str, after: str) -> list[Piece]:
    old, new = _SENTENCE.findall(before), _SENTENCE.findall(after)
    left = _MOST
    pieces: list[Piece] = []
    # What stands in very many places is left out as a place to begin: else time is quadratic again.
    for tag, a_from, a_to, b_from, b_to in SequenceMatcher(a=old, b=new).get_opcodes():
        removed, added = "".join(old[a_from:a_to]), "".join(new[b_from:b_to])
        if tag == "equal":
            pieces.append(Piece(Op.KEPT, removed))
            continue
        words, others = _TOKEN.findall(removed), _TOKEN.findall(added)
        left -= len(words) * len(others)
        if left >= 0:
            pieces.extend(_by_words(words, others))
            continue
        left += len(words) * len(others)
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
            # Only a blank between two changes: part of both.
            removed.append(kept)
            added.append(kept)
            continue
        flush()
        pieces.append(Piece(Op.KEPT, kept))
    flush()
    return pieces
