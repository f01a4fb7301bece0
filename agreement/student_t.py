"""Quantiles of Student's t, without a statistics library."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np

# From this number of degrees on, the normal quantile differs only in the sixth digit.
_AS_GOOD_AS_NORMAL = 1_000_000
_STEPS = 2_000
_HALVINGS = 60


@lru_cache(maxsize=4_096)
def quantile(share: float, degrees: int) -> float:
    """Return the ``share`` quantile of Student's t with ``degrees`` degrees of freedom.

    It is found by bisection on the integral of the density (Simpson's rule after t = sqrt(degrees)
    tan u, which makes it a power of the cosine on a short interval).

    Args:
        share: Between 0.5 and 1.
        degrees: 1 or more.

    Raises:
        ValueError: another share or fewer degrees.

    >>> round(quantile(0.975, 1), 3), round(quantile(0.975, 10), 3), round(quantile(0.975, 99), 3)
    (12.706, 2.228, 1.984)
    """
    if not 0.5 <= share < 1 or degrees < 1:
        raise ValueError(f"no quantile of t at {share} with {degrees} degrees of freedom")
    if degrees >= _AS_GOOD_AS_NORMAL:
        return NormalDist().inv_cdf(share)
    constant = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2))
    constant /= math.sqrt(math.pi)
    weights = np.ones(_STEPS + 1)
    weights[1:-1:2], weights[2:-1:2] = 4, 2
    at = np.linspace(0, 1, _STEPS + 1)
    low, high = 0.0, math.pi / 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        area = (np.cos(at * middle) ** (degrees - 1) @ weights) * middle / (3 * _STEPS)
        low, high = (middle, high) if 0.5 + constant * area < share else (low, middle)
    return math.sqrt(degrees) * math.tan(high)
