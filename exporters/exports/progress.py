"""Telling how far an export is, at next to no cost a row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

# Told how many more rows are under way.
Report = Callable[[int], None]

STEP = 1_000

T = TypeVar("T")


def reported(rows: Iterable[T], report: Report) -> Iterator[T]:
    """Yield the rows as they are, and report them STEP at a time."""
    waiting = iter(rows)
    while some := list(islice(waiting, STEP)):
        report(len(some))
        yield from some
