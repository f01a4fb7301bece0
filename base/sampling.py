"""Reproducible random samples: the same seed draws the same units on any machine. Pure.

Each unit has a name that does not depend on a database (an id from the files). Units are ordered by
the BLAKE2b digest of "seed:name", and the first ones of each stratum are the sample. So every unit
is equally likely, a larger sample contains the smaller one of the same seed, and the order of two
units does not depend on what else is in the sampling frame.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Generic, NamedTuple, TypeVar

Unit = TypeVar("Unit")

# How many strata that are too small are named; more are counted.
MOST_NAMED = 20
WAY_ON = "Ask for fewer, or take what there is."


class CannotDraw(ValueError):
    """The sample cannot be drawn as requested; the message is a sentence that says why."""


class Stratum(NamedTuple):
    """A stratum: its size, and how many are taken from it."""

    stratum: str
    size: int
    taken: Annotated[int | None, "null: nothing can be drawn."]


@dataclass(frozen=True)
class DrawPlan(Generic[Unit]):
    """What a draw would take: the size of each stratum, and how many are drawn from it."""

    sizes: dict[str, int]
    taken: dict[str, int] = field(default_factory=dict)
    # Why nothing can be drawn; "" if the draw is possible.
    refused: str = ""
    # What would be drawn, each unit with its stratum.
    units: list[tuple[Unit, str]] = field(default_factory=list)

    @property
    def total(self) -> int:
        """How many there are to draw from."""
        return sum(self.sizes.values())

    @property
    def strata(self) -> list[Stratum]:
        """The strata in their order."""
        return [
            Stratum(stratum, size, self.taken.get(stratum)) for stratum, size in self.sizes.items()
        ]


def place(seed: int, name: str) -> bytes:
    """Return the sort key of a name in the order of a seed; different names get different keys."""
    return hashlib.blake2b(f"{seed}:{name}".encode(), digest_size=16).digest()


def draw(
    strata: Mapping[str, Iterable[str]],
    *,
    size: int,
    seed: int,
    fewer: bool = False,
    parts: Mapping[str, int] | None = None,
    why_empty: Mapping[str, str] | None = None,
) -> dict[str, list[str]]:
    """Return `size` names of each stratum in the order in which they were drawn.

    With `fewer` a stratum with fewer names gives all it has. With `parts` the names of a stratum
    are drawn in turn from its parts, the lowest first: 5 from three parts are 2, 2 and 1; an
    exhausted part is skipped. Raises CannotDraw: a size below 1, nothing to draw from, an empty
    stratum or one with fewer than `size` names; `why_empty` says why a stratum is empty.
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
        sizes = {stratum: len(names) for stratum, names in drawn.items()}
        _refuse_short(sizes, size, why_empty or {})
    return {stratum: names[:size] for stratum, names in drawn.items()}


def _in_turn(names: Iterable[str], parts: Mapping[str, int]) -> list[str]:
    """Order names in rounds with one name of every part, keeping the order within a part."""
    rounds: Counter[int] = Counter()
    placed = []
    for name in names:
        part = parts[name]
        placed.append((rounds[part], part, name))
        rounds[part] += 1
    return [name for _, _, name in sorted(placed)]


def _refuse_short(sizes: Mapping[str, int], size: int, why_empty: Mapping[str, str]) -> None:
    """Refuse strata with fewer than `size` names; the error names them, the smallest first."""
    short = sorted((have, stratum) for stratum, have in sizes.items() if have < size)
    if not short:
        return
    if len(sizes) == 1:
        raise CannotDraw(
            f"There are {short[0][0]:,} to draw from, fewer than the {size:,} asked for. {WAY_ON}"
        )
    named = [_describe_short(stratum, have, why_empty) for have, stratum in short[:MOST_NAMED]]
    if len(short) > MOST_NAMED:
        named.append(f"and {len(short) - MOST_NAMED:,} more")
    raise CannotDraw(f"Fewer than the {size:,} asked for: {', '.join(named)}. {WAY_ON}")


def _describe_short(stratum: str, have: int, why_empty: Mapping[str, str]) -> str:
    """Return how many names a stratum has, and why if it has none."""
    if have:
        return f"“{stratum}” has {have:,}"
    why = why_empty.get(stratum, "")
    return f"“{stratum}” has none" + (f" ({why})" if why else "")
