"""Numbers with their nouns."""

from __future__ import annotations


def amount(n: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun, by default with an s in the plural.

    >>> amount(1, "query", "queries"), amount(2_000, "pair")
    ('1 query', '2,000 pairs')
    """
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"
