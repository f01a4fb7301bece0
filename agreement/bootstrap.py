"""Intervals by resampling units or clusters, at a cost that does not depend on their number."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from .coefficient import Interval
from .statistic import FloatArray, Statistic

IntervalMethod: TypeAlias = Literal["bootstrap", "bca", "analytic"] | None
METHODS = ("bootstrap", "bca", "analytic")

CONFIDENCE = 0.95
FEWEST_RESAMPLES = 100

# Beyond this many distinct patterns (and so at least as many units) the sums of a resample are
# drawn from their normal limit: counting every pattern anew for every resample would take seconds,
# and show no difference.
MOST_PATTERNS = 2_000
# Numbers held at a time: 32 MB of them, whatever is resampled.
_NUMBERS_AT_A_TIME = 4_000_000
# Resamples without a value are left out. Beyond this share of them the percentiles would say more
# about which resamples were lost than about the coefficient.
_MOST_UNDEFINED = 0.05


class Estimated(NamedTuple):
    """An interval and how it was made, or None and why there is none; and the standard error."""

    interval: Interval | None
    note: str
    error: float | None = None


class Drawn(NamedTuple):
    """What is drawn with replacement: so many kinds of it, each with the terms of its sums.

    Attributes:
        terms: Shape (P, D).
        times: Shape (P,): how often each kind occurs.
        what: "units", or how many clusters there are, in words.
    """

    terms: FloatArray
    times: npt.NDArray[np.int64]
    what: str

    @property
    def size(self) -> int:
        """How many are drawn."""
        return int(self.times.sum())


def interval_of(statistic: Statistic, *, method: str, resamples: int, seed: int) -> Estimated:
    """The 95 % interval of a statistic by one of METHODS, over clusters where units have them.

    Drawing N units with replacement and counting their patterns is one multinomial draw of N over
    the patterns (Efron and Tibshirani 1993, section 6.2, chapters 13 and 14), so the units
    themselves are never touched. The same seed gives the same interval.

    Args:
        statistic: What the interval is of; it has a value.
        method: "bootstrap" for percentiles, "bca" for percentiles corrected for bias and
            acceleration, "analytic" for the normal interval of the linearised variance.
        resamples: How many resamples, at least ``FEWEST_RESAMPLES``.
        seed: Seed of the generator (numpy's default_rng).
    """
    drawn = _drawn(statistic)
    if drawn.size < 2:
        what = "clusters" if drawn.what != "units" else "units"
        doing = "the variance" if method == "analytic" else "resampling"
        return Estimated(None, f"no interval: {doing} needs at least two {what}")
    sums = statistic.totals()
    influence = _influence(statistic, drawn, sums)
    error = _standard_error(influence, drawn, statistic.lost)
    if method == "analytic":
        return _analytic(statistic, sums, drawn, error)
    resampled, how = _resample(statistic, drawn, resamples, np.random.default_rng(seed))
    resampled = resampled[~np.isnan(resampled)]
    undefined = resamples - len(resampled)
    if undefined > _MOST_UNDEFINED * resamples:
        return Estimated(
            None, f"no interval: {undefined:,} of {resamples:,} resamples had no value"
        )
    tail = (1 - CONFIDENCE) / 2
    tails = (tail, 1 - tail)
    kind = "percentile"
    if method == "bca":
        kind = "BCa"
        tails = _corrected_tails(tails, resampled, statistic, sums, influence, drawn)
    low, high = np.percentile(resampled, [100 * tails[0], 100 * tails[1]])
    note = f"95 % {kind} bootstrap over {drawn.what}, {resamples:,} resamples, seed {seed}{how}"
    if undefined:
        note += f"; {undefined:,} resamples without a value left out"
    if low == high:
        note += "; the resamples do not differ, so the interval cannot show the uncertainty"
    return Estimated(Interval(float(low), float(high)), note, error)


def _drawn(statistic: Statistic) -> Drawn:
    patterns = statistic.patterns()
    terms = statistic.terms(patterns.rows)
    if patterns.clusters is None:
        return Drawn(terms, patterns.times, "units")
    known, which = np.unique(patterns.clusters, return_inverse=True)
    sums = np.zeros((len(known), terms.shape[1]))
    np.add.at(sums, which, terms * patterns.times[:, np.newaxis])
    # Rounded, as the last digits of a sum depend on the order of its terms.
    _, at, times = np.unique(sums.round(9), axis=0, return_index=True, return_counts=True)
    return Drawn(sums[at], times, f"{len(known):,} clusters")


def _influence(statistic: Statistic, drawn: Drawn, sums: FloatArray) -> FloatArray:
    """How much one more of each kind moves the coefficient, shape (P,); of mean 0."""
    moved = drawn.terms @ statistic.gradient(sums)
    return np.asarray(moved - drawn.times @ moved / drawn.size)


def _standard_error(influence: FloatArray, drawn: Drawn, lost: int) -> float:
    squares = float(drawn.times @ influence**2)
    return math.sqrt(squares * drawn.size / (drawn.size - lost))


def _analytic(statistic: Statistic, sums: FloatArray, drawn: Drawn, error: float) -> Estimated:
    value = float(statistic.value(sums[np.newaxis])[0])
    reach = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * error
    note = f"95 % normal interval from the linearised variance over {drawn.what}"
    if not error:
        note += "; the variance is 0, so the interval cannot show the uncertainty"
    return Estimated(Interval(value - reach, min(1.0, value + reach)), note, error)


def _corrected_tails(
    tails: tuple[float, float],
    resampled: FloatArray,
    statistic: Statistic,
    sums: FloatArray,
    influence: FloatArray,
    drawn: Drawn,
) -> tuple[float, float]:
    """The shares of resamples at which a BCa interval begins and ends (Efron 1987)."""
    value = statistic.value(sums[np.newaxis])[0]
    below = ((resampled < value).mean() + (resampled <= value).mean()) / 2
    squares = float(drawn.times @ influence**2)
    if not squares or not 0 < below < 1:
        return tails
    normal = NormalDist()
    bias = normal.inv_cdf(float(below))
    acceleration = float(drawn.times @ influence**3) / (6 * squares**1.5)

    def moved(tail: float) -> float:
        z = bias + normal.inv_cdf(tail)
        return normal.cdf(bias + z / max(1 - acceleration * z, 1e-9))

    return moved(tails[0]), moved(tails[1])


def _resample(
    statistic: Statistic, drawn: Drawn, resamples: int, rng: np.random.Generator
) -> tuple[FloatArray, str]:
    """The statistic of every resample, shape (B,), computed a few resamples at a time."""
    found = np.empty(resamples)
    kinds, sums = drawn.terms.shape
    if kinds > MOST_PATTERNS:
        root, mean = _root_of_covariance(drawn)
        at_a_time = max(1, _NUMBERS_AT_A_TIME // (4 * sums))
        for start in range(0, resamples, at_a_time):
            count = min(at_a_time, resamples - start)
            draws = mean + rng.standard_normal((count, sums)) @ root
            found[start : start + count] = statistic.value(draws)
        return found, f"; sums of {kinds:,} patterns drawn from their normal limit"
    shares = drawn.times / drawn.size
    at_a_time = max(1, _NUMBERS_AT_A_TIME // (2 * kinds + 4 * sums))
    for start in range(0, resamples, at_a_time):
        count = min(at_a_time, resamples - start)
        # One draw after the other from one stream: the size of a portion changes nothing.
        draws = rng.multinomial(drawn.size, shares, size=count).astype(np.float64)
        found[start : start + count] = statistic.value(draws @ drawn.terms)
    return found, ""


def _root_of_covariance(drawn: Drawn) -> tuple[FloatArray, FloatArray]:
    """A matrix A with A'A the covariance of the sums of a resample, and their mean."""
    mean = drawn.times @ drawn.terms
    moments = (drawn.terms * drawn.times[:, np.newaxis]).T @ drawn.terms
    covariance = moments - np.outer(mean, mean) / drawn.size
    sizes, axes = np.linalg.eigh(covariance)
    return np.asarray((axes * np.sqrt(sizes.clip(min=0))).T), mean
