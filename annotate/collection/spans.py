"""A span: a passage of a text, by offsets."""

from __future__ import annotations

from typing import NamedTuple


class Span(NamedTuple):
    """Characters `start` to `end` of a text, counted in Unicode code points; `end` is not part
    of it.
    """

    start: int
    end: int
