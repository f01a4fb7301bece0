"""A computed coefficient of agreement: a value or the reason why there is none."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import NamedTuple


class Interval(NamedTuple):
    """A confidence interval: ``low <= high``, both on the scale of the value."""

    low: float
    high: float


class Excluded(NamedTuple):
    """How many units were left out of a value, and why."""

    reason: str
    units: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficient:
    """One coefficient with a description of the data it was computed on.

    It is never nan or infinite: if the data allow no value, ``value`` is None and ``note`` is a
    sentence that begins with "undefined:".

    Attributes:
        name: Its name in papers, such as "Cohen's kappa".
        method: Its variant: weights or level, and how more than two raters were treated.
        value: The coefficient; None if it is undefined.
        note: The reason why there is no value, or a remark that readers need; or "".
        interval: The 95% interval; None if none was requested or possible.
        interval_note: How the interval was made, or why there is none; "" if none was requested.
        units: How many units the value is based on: those that at least two raters judged.
        excluded: How many units were left out, by reason.
        raters: Raters who judged at least one of these units. For a table of units x categories,
            which does not say who judged, the largest number of raters on one unit.
        pairs: Pairs of raters with at least one unit in common; None if the table does not say
            who judged.
        categories: The scale, in its order.
        seed: Seed of the bootstrap; None without one.
        resamples: Number of resamples drawn; None without any.
        standard_error: From the linearised variance, if an interval was requested.
    """

    name: str
    method: str
    value: float | None
    note: str
    interval: Interval | None
    interval_note: str
    units: int
    excluded: tuple[Excluded, ...]
    raters: int
    pairs: int | None
    categories: tuple[Hashable, ...]
    seed: int | None = None
    resamples: int | None = None
    standard_error: float | None = None

    def __post_init__(self) -> None:
        if self.value is None:
            if not self.note.startswith("undefined: "):
                raise ValueError("a coefficient without a value needs a reason")
            if self.interval is not None:
                raise ValueError("a coefficient without a value has no interval")
        elif not math.isfinite(self.value):
            raise ValueError(f"{self.value} is not a value; undefined is None with a reason")

    def __str__(self) -> str:
        if self.value is None:
            return f"{self.name}: {self.note} ({self.units} units, {self.raters} raters)"
        shown = f"{self.name} {self.value:.3f}"
        if self.interval is not None:
            shown += f" [{self.interval.low:.3f}, {self.interval.high:.3f}]"
        return f"{shown} ({self.units} units, {self.raters} raters)"
