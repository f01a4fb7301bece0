"""Which documents of a pool come a second time, unmarked, and where; and the numbers under which a
page knows them. PURE: no Django.

A repeat must not be told from a fresh document. So it has a place of its own in the order, and a
number of its own, which stands where the document's key stands otherwise: in addresses, forms and
in what a browser journals. Where a project has repeats every document has such a number, the first
time as well.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import NamedTuple

# A repeat has at least so many other documents before it since the first time ...
FAR = 20
# ... or, in a pool that is small, half of it, but never fewer than this.
NEAR = 2

# Numbers of 13 digits that no row has: 2 ** 40 of them, for keys below half of that.
_BITS = 20
_HALF = (1 << _BITS) - 1
_FIRST = 1 << (2 * _BITS)
_ROUNDS = 4


class Spot(NamedTuple):
    """A candidate, by its key, the first time it comes or again."""

    candidate: int
    again: bool = False


def gap(size: int) -> int:
    """How many others come at least between a document and its repeat, in a pool of `size`."""
    return max(NEAR, min(FAR, size // 2))


def number(size: int, percent: int, chance: int) -> int:
    """How many documents of a pool of `size` come again.

    `chance`, from 0 to 99, decides what becomes of a part of one: over many pools, however small,
    `percent` of the documents come again. Only those come again behind which there is room.
    """
    return min((size * percent + chance) // 100, max(0, size - gap(size)))


def chance(words: str) -> int:
    """The chance of one person's pool, from 0 to 99; `words` say whose and which."""
    return _place(words) % 100


def planned(
    order: Sequence[tuple[int, str]],
    *,
    percent: int,
    words: str,
    answered: Collection[int] = (),
) -> list[Spot]:
    """Return a pool in the order in which a person meets it, its repeats among the others.

    `order` has each candidate with its document's id. Of those that have room behind them, those
    with the smallest BLAKE2b (16 bytes, of `words` and the document's id in UTF-8, a colon between
    them) come again; each at the end of its room or before, by the BLAKE2b of the same and
    ":again". What was `answered` already comes again whatever has changed since.
    """
    size = len(order)
    far = gap(size)
    drawn = sorted(
        (candidate not in answered, _place(f"{words}:{doc_id}"), at)
        for at, (candidate, doc_id) in enumerate(order)
        if at + far < size or candidate in answered
    )
    wanted = max(number(size, percent, chance(words)), sum(not fresh for fresh, *_ in drawn))
    behind: dict[int, list[tuple[int, int]]] = {}
    for _, place, at in drawn[:wanted]:
        room = max(1, size - at - far)
        last = min(size - 1, at + far + _place(f"{words}:{order[at][1]}:again") % room)
        behind.setdefault(last, []).append((place, order[at][0]))
    spots = []
    for at, (candidate, _doc_id) in enumerate(order):
        spots.append(Spot(candidate))
        spots += [Spot(again, again=True) for _, again in sorted(behind.get(at, ()))]
    return spots


@lru_cache(maxsize=100_000)
def masked(spot: Spot, person: int) -> int:
    """The number under which a person's pages know a spot: it does not say whether it is a repeat.

    Raises ValueError for a key that is too large.
    """
    value = 2 * spot.candidate + spot.again
    if not 0 <= value < _FIRST:
        raise ValueError(f"{spot.candidate} is no key of a candidate")
    left, right = value >> _BITS, value & _HALF
    for turn in range(_ROUNDS):
        left, right = right, left ^ _mixed(person, turn, right)
    return _FIRST + (left << _BITS | right)


@lru_cache(maxsize=100_000)
def unmasked(number: int, person: int) -> Spot:
    """The spot that a number stands for; a number that is none of these is a candidate's key."""
    if not _FIRST <= number < 2 * _FIRST:
        return Spot(number)
    value = number - _FIRST
    left, right = value >> _BITS, value & _HALF
    for turn in reversed(range(_ROUNDS)):
        left, right = right ^ _mixed(person, turn, left), left
    value = left << _BITS | right
    return Spot(value >> 1, bool(value & 1))


def _mixed(person: int, turn: int, half: int) -> int:
    digest = hashlib.blake2b(f"{person}:{turn}:{half}".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big") & _HALF


def _place(words: str) -> int:
    return int.from_bytes(hashlib.blake2b(words.encode(), digest_size=16).digest(), "big")
