"""A share counted in a sample, with an interval that is exact for any sample size.

Source: Clopper and Pearson (1934), The use of confidence or fiducial limits illustrated in the case
of the binomial, Biometrika 26, 404-413. With X binomial of n trials, the upper limit of x in n is
the p at which P(X <= x) = a, the lower limit the p at which P(X >= x) = a. For an interval, a is
half of 1 - confidence; for a one-sided bound it is all of it. Both are found by bisection on the
sum of the binomial's terms, without approximation: the interval contains the true share at least as
often as its confidence. The sample is assumed to be small compared with its population; a sample
drawn without replacement from a small population is more precise than this interval.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .coefficient import Interval

CONFIDENCE = 0.95
# Halvings until the limits of the bisection are neighbours among floating-point numbers near 1.
_HALVINGS = 60
# The search for how many more to check ends here: nobody checks more.
MOST = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Proportion:
    """How many of the inspected items were hits, with an exact interval and an upper bound.

    Attributes:
        count: How many were hits.
        of: How many were inspected.
        share: ``count / of``; None if nothing was inspected.
        note: The reason why there is no share, which begins with "undefined:"; or "".
        interval: Exact two-sided interval with equal tails; None without a share.
        at_most: Exact one-sided upper bound: "0 in 150: at most 2.0%". None without a share.
        confidence: Of the interval and of the bound, separately.
    """

    count: int
    of: int
    share: float | None
    note: str
    interval: Interval | None
    at_most: float | None
    confidence: float


def proportion(count: int, of: int, *, confidence: float = CONFIDENCE) -> Proportion:
    """Return the share of `count` in `of` with its exact interval and its exact upper bound.

    Raise ValueError for a count below 0 or above `of`, or a confidence not between 0 and 1.

    >>> round(proportion(0, 150).at_most, 4)
    0.0198
    """
    _check(count, of, confidence)
    if not of:
        return Proportion(
            count=0,
            of=0,
            share=None,
            note="undefined: nothing was looked at",
            interval=None,
            at_most=None,
            confidence=confidence,
        )
    return Proportion(
        count=count,
        of=of,
        share=count / of,
        note="",
        interval=exact_interval(count, of, confidence=confidence),
        at_most=upper_bound(count, of, confidence=confidence),
        confidence=confidence,
    )


def exact_interval(count: int, of: int, *, confidence: float = CONFIDENCE) -> Interval:
    """Return the Clopper-Pearson interval of a share; from 0 to 1 if nothing was inspected.

    Raise ValueError like `proportion`.

    >>> low, high = exact_interval(0, 150)
    >>> low, round(high, 5)
    (0.0, 0.02429)
    """
    _check(count, of, confidence)
    tail = (1 - confidence) / 2
    return Interval(1 - _upper(of - count, of, tail), _upper(count, of, tail))


def upper_bound(count: int, of: int, *, confidence: float = CONFIDENCE) -> float:
    """Return the exact one-sided upper bound of a share.

    Raise ValueError like `proportion`.
    """
    _check(count, of, confidence)
    return _upper(count, of, 1 - confidence)


def more_needed(count: int, of: int, *, bound: float, confidence: float = CONFIDENCE) -> int | None:
    """Return how many more must be inspected without a hit for `upper_bound` to reach `bound`.

    0 if it is `bound` or less already; None if more than MOST would be needed.

    Raise ValueError like `proportion`, and for a bound that is not between 0 and 1.

    >>> more_needed(0, 0, bound=0.02), more_needed(0, 150, bound=0.02)
    (149, 0)
    """
    _check(count, of, confidence)
    if not 0 < bound < 1:
        raise ValueError(f"a bound must be between 0 and 1, not {bound}")
    tail = 1 - confidence

    def enough(n: int) -> bool:
        return count < n and _at_most(count, n, bound) <= tail

    if enough(of):
        return 0
    short, long = of, max(1, 2 * of, 2 * count)
    while not enough(long):
        short, long = long, 2 * long
        if short > MOST:
            return None
    while long - short > 1:
        middle = (short + long) // 2
        short, long = (short, middle) if enough(middle) else (middle, long)
    return long - of


def _check(count: int, of: int, confidence: float) -> None:
    if not 0 <= count <= of:
        raise ValueError(f"{count} in {of} is not a share")
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence must be between 0 and 1, not {confidence}")


def _upper(count: int, of: int, tail: float) -> float:
    """Return the p at which P(X <= count) = tail; the probability falls as p grows."""
    if count == of:
        return 1.0
    low, high = 0.0, 1.0
    ways = _log_binomials(count, of)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _binomial_sum(ways, of, middle) > tail:
            low = middle
        else:
            high = middle
    return high


def _at_most(count: int, of: int, p: float) -> float:
    """Return P(X <= count) for X binomial of `of` trials at p."""
    return _binomial_sum(_log_binomials(count, of), of, p)


def _log_binomials(count: int, of: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the logarithms of the binomial coefficients of `of` over 0 ... count."""
    steps = np.arange(1, count + 1, dtype=float)
    return np.concatenate([[0.0], np.cumsum(np.log((of - steps + 1) / steps))])


def _binomial_sum(ways: np.ndarray[tuple[int], np.dtype[np.float64]], of: int, p: float) -> float:
    if p <= 0 or p >= 1:
        return 1.0 if p <= 0 else float(len(ways) > of)
    times = np.arange(len(ways))
    return float(np.exp(ways + times * np.log(p) + (of - times) * np.log1p(-p)).sum())
