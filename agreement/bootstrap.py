"""Intervals by resampling units or clusters; the cost does not depend on their number."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from statistics import NormalDist
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from .coefficient import Interval
from .statistic import FloatArray, SparseTerms, Statistic
from .student_t import quantile

IntervalMethod: TypeAlias = Literal["auto", "bootstrap", "bca", "analytic"] | None
METHODS = ("bootstrap", "bca", "analytic")
# "auto" means "bca" for skewed ratings and "bootstrap" for others.
AUTO = "auto"

CONFIDENCE = 0.95
FEWEST_RESAMPLES = 100

# With more distinct patterns than this (and so at least as many units), the sums of a resample are
# drawn from their normal limit: counting every pattern again for each resample would take seconds
# and make no visible difference.
MOST_PATTERNS = 2_000
# With more sums than this, such as those of all pairs of many raters, neither their covariance nor
# the terms of all patterns are stored.
MOST_SUMS = 1_000
_LEAST_TAIL = 1e-12
# How many numbers are in memory at a time: 32 MB, regardless of the data.
_NUMBERS_AT_A_TIME = 4_000_000
# Resamples without a value are left out. If their share exceeds this, the percentiles would reflect
# which resamples were lost more than the coefficient.
_MOST_UNDEFINED = 0.05


class IntervalEstimate(NamedTuple):
    """An interval and how it was made, or None and the reason; and the standard error."""

    interval: Interval | None
    note: str
    error: float | None = None


@dataclass(frozen=True)
class Resampler:
    """Units or clusters to draw with replacement, and their terms in a statistic's sums.

    Attributes:
        statistic: The statistic to resample.
        rows: Shape (P, C), the distinct kinds of units or clusters.
        times: Shape (P,): how often each kind occurs.
        what: "units", or the number of clusters in words.
        terms_of: Function from rows (P, C) to terms of the sums, shape (P, D).
        sparse: The terms of all rows, if there are too many to store them all.
    """

    statistic: Statistic
    rows: npt.NDArray[Any]
    times: npt.NDArray[np.int64]
    what: str
    terms_of: Callable[[npt.NDArray[Any]], FloatArray]
    sparse: SparseTerms | None = None

    @classmethod
    def of(cls, statistic: Statistic) -> Resampler:
        """Return the clusters of a statistic's units, or the units if they have no clusters."""
        patterns = statistic.patterns()
        sparse = None
        if statistic.sparse is not None and len(statistic.totals()) > MOST_SUMS:
            sparse = statistic.sparse(patterns.rows)
        if patterns.clusters is None:
            return cls(statistic, patterns.rows, patterns.times, "units", statistic.terms, sparse)
        clusters, which = np.unique(patterns.clusters, return_inverse=True)
        what = f"{len(clusters):,} clusters"
        if sparse is not None:
            of_clusters = sparse.grouped(which, patterns.times)
            once = np.ones(len(clusters), dtype=np.int64)
            return cls(statistic, clusters, once, what, statistic.terms, of_clusters)
        terms = statistic.terms(patterns.rows) * patterns.times[:, np.newaxis]
        sums = np.zeros((len(clusters), terms.shape[1]))
        np.add.at(sums, which, terms)
        # Rounded, because the last digits of a sum depend on the order of its terms.
        _, at, times = np.unique(sums.round(9), axis=0, return_index=True, return_counts=True)
        return cls(statistic, sums[at], times, what, np.asarray)

    @property
    def size(self) -> int:
        """Return how many units or clusters are drawn."""
        return int(self.times.sum())

    @property
    def shortage(self) -> str:
        """Return how many are needed if there are too few for an interval, else ""."""
        if self.size > 1:
            return ""
        return f"at least two {'units' if self.what == 'units' else 'clusters'}"

    @cached_property
    def terms(self) -> FloatArray:
        """Return the terms that each kind adds to the sums, shape (P, D)."""
        return self.terms_of(self.rows)

    @cached_property
    def influence(self) -> FloatArray:
        """Return how much one more of each kind changes the coefficient, shape (P,); mean 0."""
        gradient = self.statistic.gradient(self.statistic.totals())
        if self.sparse is not None:
            moved = self.sparse.times_gradient(gradient)
        else:
            moved = np.concatenate([terms @ gradient for terms, _ in self._blocks()])
        return np.asarray(moved - self.times @ moved / self.size)

    @property
    def variance(self) -> float:
        """Return the linearised variance of the coefficient."""
        squares = float(self.times @ self.influence**2)
        return squares * self.size / (self.size - self.statistic.lost)

    def resample(self, resamples: int, rng: np.random.Generator) -> FloatArray:
        """Return the statistic of every resample, shape (B,), a few resamples at a time."""
        if self.uses_normal_limit:
            return self._resample_normal(resamples, rng)
        values = np.empty(resamples)
        shares = self.times / self.size
        for part in self._portions(resamples):
            # All draws come in order from one stream, so the portion size does not matter.
            draws = rng.multinomial(self.size, shares, size=part.stop - part.start)
            values[part] = self._values(draws.astype(np.float64))
        return values

    def resample_by_seed(self, resamples: int, seed: int) -> FloatArray:
        """Return the same as `resample` with a generator of this seed.

        If every kind occurs once, the draws depend only on numbers and are cached for the next
        statistic with as many kinds.
        """
        if (
            self.uses_normal_limit
            or len(self.times) != self.size
            or resamples * self.size > _NUMBERS_AT_A_TIME
        ):
            return self.resample(resamples, np.random.default_rng(seed))
        draws = _draws_of_single_kinds(self.size, resamples, seed)
        parts = self._portions(resamples)
        return np.concatenate([self._values(draws[part].astype(np.float64)) for part in parts])

    def _values(self, draws: FloatArray) -> FloatArray:
        """Return the statistic of draws (B, P)."""
        sums = draws @ self.terms if self.sparse is None else self.sparse.sums(draws)
        return np.asarray(self.statistic.value(sums))

    def _portions(self, resamples: int) -> list[slice]:
        """Return slices of resamples whose draws and sums fit in memory."""
        each = 2 * len(self.times) + 4 * len(self.statistic.totals())
        at_a_time = max(1, _NUMBERS_AT_A_TIME // each)
        starts = range(0, resamples, at_a_time)
        return [slice(start, min(start + at_a_time, resamples)) for start in starts]

    @property
    def uses_normal_limit(self) -> bool:
        """Return whether there are so many kinds that sums are drawn from their normal limit.

        Sums of many pairs of raters are not: a pair may share only a few of the units, and their
        sums are far from normal.
        """
        return len(self.times) > MOST_PATTERNS and self.sparse is None

    def _resample_normal(self, resamples: int, rng: np.random.Generator) -> FloatArray:
        mean = self.statistic.totals()
        moments = np.zeros((len(mean), len(mean)))
        for terms, times in self._blocks():
            weighted = (terms * np.sqrt(times)[:, np.newaxis]).astype(np.float32)
            moments += weighted.T @ weighted
        sizes, axes = np.linalg.eigh(moments - np.outer(mean, mean) / self.size)
        root = (axes * np.sqrt(sizes.clip(min=0))).T
        values = np.empty(resamples)
        at_a_time = max(1, _NUMBERS_AT_A_TIME // (4 * len(mean)))
        for start in range(0, resamples, at_a_time):
            count = min(at_a_time, resamples - start)
            draws = mean + rng.standard_normal((count, len(mean))) @ root
            values[start : start + count] = self.statistic.value(draws)
        return values

    def _blocks(self) -> Iterator[tuple[FloatArray, npt.NDArray[np.int64]]]:
        """Yield terms and times; if there are many patterns, some of them at a time."""
        if not self.uses_normal_limit:
            yield self.terms, self.times
            return
        at_a_time = max(1, _NUMBERS_AT_A_TIME // len(self.statistic.totals()))
        for start in range(0, len(self.times), at_a_time):
            part = slice(start, start + at_a_time)
            yield self.terms_of(self.rows[part]), self.times[part]


@lru_cache(maxsize=4)
def _draws_of_single_kinds(size: int, resamples: int, seed: int) -> npt.NDArray[np.uint16]:
    """Return how often each of `size` kinds that occur once is drawn, shape (B, size)."""
    rng = np.random.default_rng(seed)
    shares = np.ones(size, dtype=np.int64) / size
    return rng.multinomial(size, shares, size=resamples).astype(np.uint16)


def compute_interval(
    statistic: Statistic, *, method: str, resamples: int, seed: int
) -> IntervalEstimate:
    """Return the 95% interval of a statistic by one of METHODS, over clusters if units have them.

    Drawing N units with replacement and counting their patterns is one multinomial draw of N over
    the patterns (Efron and Tibshirani 1993, section 6.2, chapters 13 and 14), so individual units
    are not needed. The same seed gives the same interval.

    Args:
        statistic: A statistic that has a value.
        method: "bootstrap" for percentiles, "bca" for percentiles corrected for bias and
            acceleration, "analytic" for the t interval of the linearised variance.
        resamples: How many resamples, at least ``FEWEST_RESAMPLES``.
        seed: Seed of the generator (numpy's default_rng).
    """
    resampler = Resampler.of(statistic)
    value = statistic.of_all()
    if resampler.shortage:
        doing = "the variance" if method == "analytic" else "resampling"
        return IntervalEstimate(None, f"no interval: {doing} needs {resampler.shortage}")
    error = math.sqrt(resampler.variance)
    if method == "analytic":
        return _analytic(value, resampler, error)
    resampled = resampler.resample_by_seed(resamples, seed)
    return percentile_interval(resampled, value, [resampler], error, method=method, seed=seed)


def percentile_interval(
    resampled: FloatArray,
    value: float,
    sources: list[Resampler],
    error: float,
    *,
    method: str,
    seed: int,
) -> IntervalEstimate:
    """Return the interval between two percentiles of the resamples, and how it was made.

    Args:
        resampled: Shape (B,), the value of each resample, nan if it had none.
        value: The value of the data.
        sources: The sources of the resamples; the second, if any, is subtracted.
        error: The standard error.
        method: "bootstrap" or "bca".
        seed: The seed of the resamples.
    """
    resamples = len(resampled)
    resampled = resampled[~np.isnan(resampled)]
    undefined = resamples - len(resampled)
    if undefined > _MOST_UNDEFINED * resamples:
        lost = f"{undefined:,} of {resamples:,} resamples had no value"
        return IntervalEstimate(None, f"no interval: {lost}", error)
    tail = _widened_tail(min(resampler.size for resampler in sources))
    tails = (tail, 1 - tail)
    kind = "expanded percentile"
    if method == "bca":
        kind = "BCa"
        tails = _corrected_tails(tails, resampled, value, sources)
    low, high = np.percentile(resampled, [100 * tails[0], 100 * tails[1]])
    what = " and ".join(dict.fromkeys(resampler.what for resampler in sources))
    note = f"95% {kind} bootstrap over {what}, {resamples:,} resamples, seed {seed}"
    if any(resampler.uses_normal_limit for resampler in sources):
        most = max(len(resampler.times) for resampler in sources)
        note += f"; sums of {most:,} patterns drawn from their normal limit"
    if undefined:
        note += f"; {undefined:,} resamples without a value left out"
    if low == high:
        note += "; the resamples do not differ, so the interval cannot show the uncertainty"
    elif not low <= value <= high:
        note += "; the value is outside, because resamples of few units are biased"
    return IntervalEstimate(Interval(float(low), float(high)), note, error)


def _analytic(value: float, resampler: Resampler, error: float) -> IntervalEstimate:
    """Return the t interval on the scale of log(1 - value), which keeps it below 1."""
    note = f"95% interval from the linearised variance over {resampler.what}, t on log(1 - value)"
    if not error or value >= 1:
        note += "; the variance is 0, so the interval cannot show the uncertainty"
        return IntervalEstimate(Interval(value, value), note, 0.0)
    reach = quantile((1 + CONFIDENCE) / 2, resampler.size - 1) * error / (1 - value)
    # A larger reach would overflow; no coefficient is so low.
    factor = math.exp(min(reach, 700.0))
    return IntervalEstimate(
        Interval(1 - (1 - value) * factor, 1 - (1 - value) / factor), note, error
    )


def _widened_tail(size: int) -> float:
    """Return the share of resamples to leave out on either side.

    The variance of resamples is too small by (n - 1) / n, and the normal quantile treats it as
    known; both make plain percentiles of few units too narrow. These are the expanded percentiles
    of Hesterberg (2015), The American Statistician 69, 371-386.
    """
    reach = quantile((1 + CONFIDENCE) / 2, size - 1) * math.sqrt(size / (size - 1))
    # With very few units nothing is left out, but the quantiles used later need a share above 0.
    return max(NormalDist().cdf(-reach), _LEAST_TAIL)


def _corrected_tails(
    tails: tuple[float, float], resampled: FloatArray, value: float, sources: list[Resampler]
) -> tuple[float, float]:
    """Return the shares of resamples at which a BCa interval begins and ends.

    Efron (1987), Journal of the American Statistical Association 82, 171-185. Half of the resamples
    that equal the value count as below it.
    """
    below = ((resampled < value).mean() + (resampled <= value).mean()) / 2
    squares = cubes = 0.0
    for sign, resampler in zip((1, -1), sources, strict=False):
        squares += float(resampler.times @ resampler.influence**2)
        cubes += sign * float(resampler.times @ resampler.influence**3)
    if not squares or not 0 < below < 1:
        return tails
    normal = NormalDist()
    bias = normal.inv_cdf(float(below))
    acceleration = cubes / (6 * squares**1.5)

    def adjusted(tail: float) -> float:
        z = bias + normal.inv_cdf(tail)
        return normal.cdf(bias + z / max(1 - acceleration * z, 1e-9))

    return adjusted(tails[0]), adjusted(tails[1])
