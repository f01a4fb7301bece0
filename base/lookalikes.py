"""User names that look like one another, by Unicode's table of confusable characters (UTS 39)."""

from __future__ import annotations

import unicodedata
from functools import cache

from confusable_homoglyphs.utils import load  # type: ignore[import-untyped]

# Of a longer skeleton only the beginning counts: a user name has at most 150 characters.
LONGEST = 300


def skeleton(name: str) -> str:
    """Return what all names have in common that look like `name`, whatever their capitals.

    Compatible characters are one (NFKC), then each becomes the first of those that it looks like:
    a Cyrillic "а" is "a", a "1" is "l", an "m" is "rn".
    """
    folded = unicodedata.normalize("NFKC", name).translate(_prototypes()).casefold()
    return unicodedata.normalize("NFKC", folded)[:LONGEST]


@cache
def _prototypes() -> dict[int, str]:
    """The characters that look like others, each with what stands for all of them.

    Of the package only the data is read: its module would keep twenty times as much in memory. A
    character that stands for several lists all of them, and each of these lists that one.
    """
    table: dict[str, list[dict[str, str]]] = load("confusables.json")
    found = {}
    for character, alike in table.items():
        if len(character) != 1 or len(alike) != 1:
            continue
        other = alike[0]["c"]
        if len(other) == 1 and len(table.get(other, ())) <= 1:
            # Of two that look like each other only.
            other = min(character, other)
        found[ord(character)] = other
    return found
