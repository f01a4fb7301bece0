"""The order in which people read names with numbers: "2 conditions" before "10 conditions"."""

from __future__ import annotations

import re

_DIGITS = re.compile(r"([0-9]+)")


def natural(text: str) -> tuple[list[str], list[int], str]:
    """Return a key to sort by: words first, then the numbers between them, by their value."""
    parts = _DIGITS.split(text)
    return parts[::2], [int(number) for number in parts[1::2]], text
