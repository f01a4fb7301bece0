"""A span of a text, given by offsets."""

from __future__ import annotations

from typing import NamedTuple


class Span(NamedTuple):
    """Characters `start` to `end` (exclusive) of a text, counted in Unicode code points."""

    start: int
    end: int
