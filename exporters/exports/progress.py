"""Report the progress of an export at almost no cost per row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

# Called with the number of further rows.
Report = Callable[[int], None]

STEP = 1_000

T = TypeVar("T")


def report_rows(rows: Iterable[T], report: Report) -> Iterator[T]:
    """Yield the rows unchanged, and report them STEP at a time."""
    waiting = iter(rows)
    while some := list(islice(waiting, STEP)):
        report(len(some))
        yield from some
