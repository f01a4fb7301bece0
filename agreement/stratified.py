"""A share of a population that was sampled in strata, with a different rate in each.

Source of the estimate: Cochran (1977), Sampling Techniques, 3rd edition, chapter 5: with N_h items
in stratum h, of which n_h were inspected and x_h were hits, the share of all N is the sum of
(N_h / N) (x_h / n_h). His interval is the normal one, whose length is 0 if there are no hits in any
stratum, which is usual in checks of good labels.

So the interval is that of Fay and Feuer (1997), Confidence intervals for directly standardized
rates: a method based on the gamma distribution, Statistics in Medicine 16, 791-801, for a weighted
sum of counts, even small ones. With the weights w_h = N_h / (N n_h), the estimate y = sum w_h x_h,
its variance v = sum w_h^2 x_h and w the largest weight, the limits are quantiles of the gamma
distributions with mean and variance (y, v) below and (y + w, v + w^2) above. The upper limit
assumes that the next hit would be in the stratum with the largest weight. So without hits, it is w
times 3.0 at one-sided 95%: the rule of three for that stratum. Counts are treated as Poisson,
although counts in a sample vary less, and the sample as small compared with its population: both
err on the safe side. docs/checks.md has the coverage of the interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .coefficient import Interval
from .proportion import CONFIDENCE

_HALVINGS = 200
_TERMS = 10_000
_SMALL = 1e-15


@dataclass(frozen=True, slots=True)
class Stratum:
    """How many items of a stratum were hits (`count`) of those inspected (`of`), and its size."""

    count: int
    of: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratified:
    """A share of all items in the strata, weighted by the sizes of strata.

    Attributes:
        share: The estimate; None if it is undefined.
        note: The reason why there is none, which begins with "undefined:"; or "".
        interval: Two-sided interval with equal tails; None without a share.
        at_most: One-sided upper bound; None without a share.
        confidence: At least that of the interval and of the bound, separately.
    """

    share: float | None
    note: str
    interval: Interval | None
    at_most: float | None
    confidence: float


def stratified(strata: Sequence[Stratum], *, confidence: float = CONFIDENCE) -> Stratified:
    """Return the share of all items in strata, weighted by size; empty strata do not count.

    Raise ValueError for a count below 0 or above the number inspected, a number inspected above the
    size, or a confidence not between 0 and 1.

    >>> found = stratified([Stratum(0, 50, 900), Stratum(5, 50, 100)])
    >>> round(found.share, 4), round(found.interval.high, 4)
    (0.01, 0.0743)
    """
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence must be between 0 and 1, not {confidence}")
    for stratum in strata:
        if not 0 <= stratum.count <= stratum.of <= stratum.size:
            raise ValueError(
                f"{stratum.count} in {stratum.of} of {stratum.size} is not a share of a stratum"
            )
    filled = [stratum for stratum in strata if stratum.size]
    unseen = sum(1 for stratum in filled if not stratum.of)
    if not filled or unseen:
        note = (
            f"undefined: nothing was looked at in {unseen} of {len(filled)} strata"
            if filled
            else "undefined: there is nothing in any stratum"
        )
        return Stratified(share=None, note=note, interval=None, at_most=None, confidence=confidence)
    total = sum(stratum.size for stratum in filled)
    weights = [stratum.size / total / stratum.of for stratum in filled]
    share = sum(weight * stratum.count for weight, stratum in zip(weights, filled, strict=True))
    variance = sum(
        weight**2 * stratum.count for weight, stratum in zip(weights, filled, strict=True)
    )
    largest = max(weights)
    tail = 1 - confidence
    above = (share + largest, variance + largest**2)
    return Stratified(
        share=share,
        note="",
        interval=Interval(
            _quantile(tail / 2, share, variance) if share else 0.0,
            min(1.0, _quantile(1 - tail / 2, *above)),
        ),
        at_most=min(1.0, _quantile(1 - tail, *above)),
        confidence=confidence,
    )


def _quantile(p: float, mean: float, variance: float) -> float:
    """Return the p quantile of the gamma distribution with this mean and variance."""
    shape, scale = mean**2 / variance, variance / mean
    low, high = 0.0, shape + 1
    while _gamma(shape, high) < p:
        high *= 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _gamma(shape, middle) < p:
            low = middle
        else:
            high = middle
    return scale * high


def _gamma(shape: float, x: float) -> float:
    """Return the distribution function of the gamma distribution with scale 1.

    It uses the series below the mean, the continued fraction (by Lentz's method) above.
    """
    if x <= 0:
        return 0.0
    front = math.exp(shape * math.log(x) - x - math.lgamma(shape))
    if x < shape + 1:
        term = total = 1 / shape
        for step in range(1, _TERMS):
            term *= x / (shape + step)
            total += term
            if term < total * _SMALL:
                break
        return front * total
    b = x + 1 - shape
    c = 1 / _SMALL**2
    d = fraction = 1 / b
    for step in range(1, _TERMS):
        a = -step * (step - shape)
        b += 2
        d = 1 / (a * d + b or _SMALL**2)
        c = b + a / c or _SMALL**2
        fraction *= c * d
        if abs(c * d - 1) < _SMALL:
            break
    return 1 - front * fraction
