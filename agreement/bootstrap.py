"""Percentile intervals by resampling units, at a cost that does not depend on their number."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .coefficient import Interval

FloatArray = npt.NDArray[np.float64]

CONFIDENCE = 0.95
FEWEST_RESAMPLES = 100

# Numbers held at a time: 32 MB of them, whatever is resampled.
_NUMBERS_AT_A_TIME = 4_000_000
# Resamples without a value are left out. Beyond this share of them the percentiles would say more
# about which resamples were lost than about the coefficient.
_MOST_UNDEFINED = 0.05


class Statistic(NamedTuple):
    """A coefficient as a function of how often each pattern of values occurs.

    Attributes:
        times: Shape (P,): how often each pattern occurs in the data.
        values: From (B, P), how often in each of B resamples, to (B,); nan where undefined.
        scratch: How many numbers ``values`` holds per resample beyond its P.
    """

    times: npt.NDArray[np.int64]
    values: Callable[[FloatArray], FloatArray]
    scratch: int

    def value(self) -> float:
        """The coefficient of the data themselves; nan where undefined."""
        return float(self.values(self.times[np.newaxis].astype(np.float64))[0])


def percentile_interval(
    statistic: Statistic, *, resamples: int, seed: int
) -> tuple[Interval | None, str]:
    """The 95 % percentile bootstrap interval over units, and how it was made or why there is none.

    Drawing N units with replacement and counting their patterns is one multinomial draw of N over
    the patterns (Efron and Tibshirani 1993, section 6.2 and chapter 13, for the plain method), so
    the units themselves are never touched. The same seed gives the same interval.

    Args:
        statistic: What to resample.
        resamples: How many resamples, at least ``FEWEST_RESAMPLES``.
        seed: Seed of the generator (numpy's default_rng).
    """
    times = statistic.times
    units = int(times.sum())
    if units < 2:
        return None, "no interval: resampling needs at least two units"
    drawn = _resample(statistic, resamples=resamples, rng=np.random.default_rng(seed))
    drawn = drawn[~np.isnan(drawn)]
    undefined = resamples - len(drawn)
    if undefined > _MOST_UNDEFINED * resamples:
        return None, f"no interval: {undefined:,} of {resamples:,} resamples had no value"
    tail = 100 * (1 - CONFIDENCE) / 2
    low, high = np.percentile(drawn, [tail, 100 - tail])
    note = f"95 % percentile bootstrap over units, {resamples:,} resamples, seed {seed}"
    if undefined:
        note += f"; {undefined:,} resamples without a value left out"
    if low == high:
        note += "; the resamples do not differ, so the interval cannot show the uncertainty"
    return Interval(float(low), float(high)), note


def _resample(statistic: Statistic, *, resamples: int, rng: np.random.Generator) -> FloatArray:
    """The statistic of every resample, shape (B,), computed a few resamples at a time."""
    times = statistic.times
    units = int(times.sum())
    shares = times / units
    at_a_time = max(1, _NUMBERS_AT_A_TIME // (2 * len(times) + statistic.scratch))
    drawn = np.empty(resamples)
    for start in range(0, resamples, at_a_time):
        count = min(at_a_time, resamples - start)
        # One draw after the other from one stream: the size of a portion changes nothing.
        draws = rng.multinomial(units, shares, size=count).astype(np.float64)
        drawn[start : start + count] = statistic.values(draws)
    return drawn
