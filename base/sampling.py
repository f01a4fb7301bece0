"""Which things are drawn from many: the same seed draws the same ones anywhere. Pure.

Each thing has a name that does not depend on a database (ids as the files have them). Things are
put in the order of the BLAKE2b digest of "seed:name", and the first so many of each stratum are the
sample: every thing is as likely as every other, a larger sample holds the smaller one of the same
seed, and what else is in the frame changes nothing about the order of two things.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping


class CannotDraw(ValueError):
    """A sample that cannot be drawn as it was asked for, with the sentence that says why."""


def place(seed: int, name: str) -> bytes:
    """Where a thing stands in the order of a seed; names that differ never share a place."""
    return hashlib.blake2b(f"{seed}:{name}".encode(), digest_size=16).digest()


def draw(
    strata: Mapping[str, Iterable[str]],
    *,
    size: int,
    seed: int,
    fewer: bool = False,
    parts: Mapping[str, int] | None = None,
) -> dict[str, list[str]]:
    """Return `size` names of each stratum in the order in which they were drawn.

    With `fewer` a stratum that has not so many gives what it has. With `parts` the names of a
    stratum are drawn in turn from its parts, the lowest first: 5 of three parts are 2, 2 and 1; a
    part that has no more is passed over. Raises CannotDraw: a size below
    1, nothing to draw from, a stratum with nothing in it or with less than `size`.
    """
    if size < 1:
        raise CannotDraw("Draw at least one.")
    drawn = {
        stratum: sorted(names, key=lambda n: place(seed, n)) for stratum, names in strata.items()
    }
    if parts is not None:
        drawn = {stratum: _in_turn(names, parts) for stratum, names in drawn.items()}
    if not any(drawn.values()):
        raise CannotDraw("There is nothing to draw from.")
    if not fewer:
        _refuse_short({stratum: len(names) for stratum, names in drawn.items()}, size)
    return {stratum: names[:size] for stratum, names in drawn.items()}


def _in_turn(names: Iterable[str], parts: Mapping[str, int]) -> list[str]:
    """Order names so that each round has one of every part, the order within a part kept."""
    rounds: Counter[int] = Counter()
    placed = []
    for name in names:
        part = parts[name]
        placed.append((rounds[part], part, name))
        rounds[part] += 1
    return [name for _, _, name in sorted(placed)]


def _refuse_short(sizes: Mapping[str, int], size: int) -> None:
    """Refuse strata that have not `size`, the emptiest first."""
    short = sorted((have, stratum) for stratum, have in sizes.items() if have < size)
    if not short:
        return
    have, stratum = short[0]
    more = len(short) - 1
    others = f", and {more:,} more {'is' if more == 1 else 'are'} too small" if more else ""
    if len(sizes) == 1:
        raise CannotDraw(
            f"There are {have:,} to draw from, fewer than the {size:,} asked for."
            " Ask for fewer, or take what there is."
        )
    if not have:
        raise CannotDraw(f"“{stratum}” has nothing in it to draw from{others}.")
    raise CannotDraw(
        f"“{stratum}” has {have:,}, fewer than the {size:,} asked for{others}."
        " Ask for fewer, or take what there is."
    )
