"""Pseudonyms for people whose names are hidden: "Person A" and "Person B".

They are the same on every page of one disagreement, and their order reveals no names.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from string import ascii_uppercase


def positions_of(about: Iterable[int], people: Iterable[int]) -> dict[int, int]:
    """Return the position, from 0, of each person (keys of memberships) in a disagreement; `about`:
    the keys that identify it.
    """
    disagreement = ":".join(map(str, about))

    def shuffled(person: int) -> bytes:
        return sha256(f"{disagreement}/{person}".encode()).digest()

    return {person: place for place, person in enumerate(sorted(set(people), key=shuffled))}


def pseudonym(place: int) -> str:
    """Return the pseudonym at a position: Person A, Person B ... Person AA."""
    letters = ""
    place += 1
    while place:
        place, last = divmod(place - 1, len(ascii_uppercase))
        letters = ascii_uppercase[last] + letters
    return f"Person {letters}"
