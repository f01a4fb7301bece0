"""Detect user names that look alike, by Unicode's table of confusable characters (UTS 39)."""

from __future__ import annotations

import unicodedata
from functools import cache

from confusable_homoglyphs.utils import load  # type: ignore[import-untyped]

# Longer skeletons are cut off; a user name has at most 150 characters.
LONGEST = 300


def skeleton(name: str) -> str:
    """Return a key that is equal for all names that look like `name`, ignoring case.

    Compatible characters are unified (NFKC), then each is replaced by the prototype it looks like:
    a Cyrillic "а" by "a", a "1" by "l", an "m" by "rn".
    """
    folded = unicodedata.normalize("NFKC", name).translate(_prototypes()).casefold()
    return unicodedata.normalize("NFKC", folded)[:LONGEST]


@cache
def _prototypes() -> dict[int, str]:
    """Map each confusable character to the prototype of its group.

    Only the package's data is read: its module would use twenty times as much memory. In the data a
    prototype lists its whole group, and every other character lists its prototype.
    """
    table: dict[str, list[dict[str, str]]] = load("confusables.json")
    prototypes = {}
    for character, alike in table.items():
        if len(character) != 1 or len(alike) != 1:
            continue
        other = alike[0]["c"]
        if len(other) == 1 and len(table.get(other, ())) <= 1:
            # A group of two: each lists the other.
            other = min(character, other)
        prototypes[ord(character)] = other
    return prototypes
