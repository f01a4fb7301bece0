"""The word diff of two narratives.

PURE: no Django. `static/js/diff.js` shows the same diff while someone types.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import takewhile
from typing import NamedTuple

_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")
# A sentence with the white space after it, or a line.
_SENTENCE = re.compile(r"[^.!?。！？؟\n]*(?:[.!?。！？؟\n]+\s*|$)")

# The most steps of one comparison, as `_steps` counts them (about 200 words with 200): without a
# bound, they can grow with the cube of the length. Longer texts are compared by sentences first.
_MOST = 20_000_000


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
    change. Long texts are compared by sentences, and changed sentences by words, as long as the
    budget of `_MOST` steps lasts; what is left then is removed and added as a whole.
    """
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    if _steps(old, new) > _MOST:
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


def _steps(old: list[str], new: list[str]) -> int:
    """Return how many steps comparing takes at most.

    Each run that is kept costs a look at all old tokens and all pairs of equal tokens.
    """
    counts = Counter(new)
    equal = sum(count * counts[token] for token, count in Counter(old).items())
    return min(len(old), len(new)) * (len(old) + equal)


def _count_equal(old: list[str], new: list[str]) -> int:
    """Return how many tokens both begin with."""
    equal = takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False))
    return sum(1 for _ in equal)


def _by_sentences(before: str, after: str) -> list[Piece]:
    old, new = _SENTENCE.findall(before), _SENTENCE.findall(after)
    begin = _count_equal(old, new)
    end = _count_equal(old[begin:][::-1], new[begin:][::-1])
    first, last = "".join(old[:begin]), "".join(old[len(old) - end :])
    old, new = old[begin : len(old) - end], new[begin : len(new) - end]
    pieces = [Piece(Op.KEPT, first)]
    left = _MOST - _steps(old, new)
    codes: Sequence[tuple[str, int, int, int, int]] = [("replace", 0, len(old), 0, len(new))]
    if left >= 0:
        codes = SequenceMatcher(a=old, b=new).get_opcodes()
    for tag, a_from, a_to, b_from, b_to in codes:
        removed, added = "".join(old[a_from:a_to]), "".join(new[b_from:b_to])
        if tag == "equal":
            pieces.append(Piece(Op.KEPT, removed))
            continue
        words, others = _TOKEN.findall(removed), _TOKEN.findall(added)
        if (steps := _steps(words, others)) <= left:
            left -= steps
            pieces.extend(_by_words(words, others))
        else:
            pieces += [Piece(Op.REMOVED, removed), Piece(Op.ADDED, added)]
    pieces.append(Piece(Op.KEPT, last))
    return [piece for piece in pieces if piece.text]


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
