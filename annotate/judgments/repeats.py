"""Repeats: which documents of a pool are shown a second time, and where. No Django here.

Judges must not be able to tell a repeat from a new document. So a repeat has its own position in
the order, and its own number, which replaces the document's key in URLs, forms and the browser's
journal. In a project with repeats every document has such a number, also when shown first.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import NamedTuple

# At least this many other documents come between a document and its repeat ...
FAR = 20
# ... or, in a small pool, half of the pool, but never fewer than this.
NEAR = 2

# Numbers of 13 digits that are no row's key: 2 ** 40 of them, for keys below half of that.
_BITS = 20
_HALF = (1 << _BITS) - 1
_FIRST = 1 << (2 * _BITS)
_ROUNDS = 4


class Spot(NamedTuple):
    """A candidate's first occurrence, or (`again`) its repeat, by the candidate's key."""

    candidate: int
    again: bool = False


def gap(size: int) -> int:
    """Return the least number of documents between a document and its repeat, for a pool size."""
    return max(NEAR, min(FAR, size // 2))


def count_repeats(size: int, percent: int, chance: int) -> int:
    """Return how many documents of a pool of `size` are repeated.

    `chance`, from 0 to 99, decides how a fraction is rounded, so that over many pools, however
    small, `percent` of the documents are repeated. Only documents with enough others after them can
    be repeated.
    """
    return min((size * percent + chance) // 100, max(0, size - gap(size)))


def chance(words: str) -> int:
    """Return the chance for one person's pool, from 0 to 99; `words` identify person and pool."""
    return _digest(words) % 100


def plan_repeats(
    order: Sequence[tuple[int, str]],
    *,
    percent: int,
    words: str,
    answered: Collection[int] = (),
) -> list[Spot]:
    """Return a person's order of a pool with the repeats inserted.

    `order` has each candidate with its document's id. Among documents with enough others after
    them, those with the smallest BLAKE2b (16 bytes, of `words`, a colon and the document's id in
    UTF-8) are repeated. The position of each repeat follows from the BLAKE2b of the same string
    and ":again". Repeats that were `answered` stay in the order, whatever has changed since.
    """
    size = len(order)
    far = gap(size)
    drawn = sorted(
        (candidate not in answered, _digest(f"{words}:{doc_id}"), at)
        for at, (candidate, doc_id) in enumerate(order)
        if at + far < size or candidate in answered
    )
    count = max(count_repeats(size, percent, chance(words)), sum(not new for new, *_ in drawn))
    repeats_after: dict[int, list[tuple[int, int]]] = {}
    for _, digest, at in drawn[:count]:
        room = max(1, size - at - far)
        last = min(size - 1, at + far + _digest(f"{words}:{order[at][1]}:again") % room)
        repeats_after.setdefault(last, []).append((digest, order[at][0]))
    spots = []
    for at, (candidate, _doc_id) in enumerate(order):
        spots.append(Spot(candidate))
        spots += [Spot(again, again=True) for _, again in sorted(repeats_after.get(at, ()))]
    return spots


@lru_cache(maxsize=20_000)
def mask(spot: Spot, person: int) -> int:
    """Return the number of a spot on a person's pages, which does not reveal a repeat.

    Raises ValueError for a key that is too large.
    """
    value = 2 * spot.candidate + spot.again
    if not 0 <= value < _FIRST:
        raise ValueError(f"{spot.candidate} is no key of a candidate")
    left, right = value >> _BITS, value & _HALF
    for turn in range(_ROUNDS):
        left, right = right, left ^ _mixed(person, turn, right)
    return _FIRST + (left << _BITS | right)


def unmask(number: int, person: int) -> Spot:
    """Return the spot of a number; a number out of their range is a candidate's key."""
    return _unmask(number, person) if _FIRST <= number < 2 * _FIRST else Spot(number)


@lru_cache(maxsize=20_000)
def _unmask(number: int, person: int) -> Spot:
    value = number - _FIRST
    left, right = value >> _BITS, value & _HALF
    for turn in reversed(range(_ROUNDS)):
        left, right = right ^ _mixed(person, turn, left), left
    value = left << _BITS | right
    return Spot(value >> 1, bool(value & 1))


def _mixed(person: int, turn: int, half: int) -> int:
    digest = hashlib.blake2b(f"{person}:{turn}:{half}".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big") & _HALF


def _digest(words: str) -> int:
    return int.from_bytes(hashlib.blake2b(words.encode(), digest_size=16).digest(), "big")
