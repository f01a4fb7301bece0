"""The result of a measure: a value or the reason why there is none, and a description of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .intervals import Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One value of a measure, with everything needed to report it.

    It is never nan or infinite: if the data allow no value, ``value`` is None and ``reason`` is a
    sentence that begins with "undefined: ".

    Attributes:
        name: Name of the measure, such as "p-MRR".
        value: Mean over queries, unless the measure defines it otherwise; None if undefined.
        by_query: Value of each query the measure applies to; None for a query that is left out.
        n: Number of queries that count in the value.
        reason: Why there is no value; "" if there is one.
        interval: 95% interval over queries; None if none was requested or none exists.
        interval_note: How the interval was made, or why there is none; "" if none was requested.
        options: Every option of the call that affects the value.
        warnings: Sentences about the input that readers of the value need.
        terms: Numerator and denominator of each query that counts. The value is the sum of the
            numerators over the sum of the denominators.
    """

    name: str
    value: float | None
    by_query: Mapping[str, float | None]
    n: int
    reason: str = ""
    interval: Interval | None = None
    interval_note: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    terms: Mapping[str, tuple[float, float]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if self.value is None:
            if not self.reason.startswith("undefined: "):
                raise ValueError("a measurement without a value needs a reason")
            if self.interval is not None:
                raise ValueError("a measurement without a value has no interval")
        elif not math.isfinite(self.value):
            raise ValueError(f"{self.value} is not a value; undefined is None with a reason")

    def __str__(self) -> str:
        queries = f"({self.n:,} {'query' if self.n == 1 else 'queries'})"
        if self.value is None:
            return f"{self.name}: {self.reason} {queries}"
        shown = f"{self.name} {self.value:.4f}"
        if self.interval is not None:
            shown += f" [{self.interval.low:.4f}, {self.interval.high:.4f}]"
        return f"{shown} {queries}"
