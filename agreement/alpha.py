"""Krippendorff's alpha."""

from __future__ import annotations

import math
from typing import Literal, TypeAlias, get_args

import krippendorff
import numpy as np

from .bootstrap import FloatArray, Statistic
from .coefficient import Coefficient
from .estimate import IntervalMethod, corrected, estimate
from .tables import Categories, Matrix, Patterns, Ratings, as_ratings

Level: TypeAlias = Literal["nominal", "ordinal", "interval", "ratio"]

# The krippendorff package holds several arrays of units x categories x categories. Up to this many
# numbers in each it takes milliseconds; beyond, the same formula is summed over patterns instead.
MOST_FOR_PACKAGE = 2_000_000


def krippendorff_alpha(
    ratings: Ratings | Matrix,
    *,
    categories: Categories | None = None,
    level: Level = "nominal",
    interval: IntervalMethod = None,
    seed: int = 0,
    resamples: int = 10_000,
) -> Coefficient:
    r"""Krippendorff's alpha for any number of raters, missing values included.

    With the coincidences o_ck = sum_i n_ic (n_ik - [c = k]) / (n_i - 1), their margins n_c and
    their sum n,

        alpha = 1 - (n - 1) sum_ck o_ck d_ck / sum_ck n_c n_k d_ck,

    where d_ck is [c != k] for nominal, (c - k)^2 for interval, ((c - k) / (c + k))^2 for ratio
    values, and for ordinal ones the square of how many values lie between c and k, half of those
    in c and in k counted. Krippendorff (2011), Computing Krippendorff's Alpha-Reliability.

    The value comes from the krippendorff package, on value counts. For tables too large for it,
    and for the resamples, the same formula is summed over the distinct patterns of values.

    Args:
        ratings: Matrix of units x raters, nan for missing; or ``Ratings``.
        categories: The scale in its order, or "seen"; both give the same value.
        level: What the distance of two categories is; all but nominal need an ordered scale,
            interval and ratio a scale of numbers, ratio of numbers of 0 or more.
        interval: "bootstrap" for a 95 % interval.
        seed: Seed of the bootstrap.
        resamples: Number of resamples.

    Raises:
        ValueError: ``ratings``, ``categories`` or ``level`` are not what they should be.

    >>> nan = float("nan")
    >>> observers = [  # Krippendorff (2011), example C
    ...     [1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan],
    ...     [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, 3],
    ...     [nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, nan],
    ...     [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan]]
    >>> by_unit = list(zip(*observers))
    >>> print(krippendorff_alpha(by_unit, categories=[1, 2, 3, 4, 5], level="ordinal"))
    Krippendorff's alpha 0.815 (11 units, 4 raters)
    """
    table = as_ratings(ratings, categories)
    _check_level(level, table)
    used = table.used
    counts = Patterns(table.shared.rows[:, used], table.shared.times)
    places = np.array(
        [
            c if level in ("interval", "ratio") else at
            for at, (c, occurs) in enumerate(zip(table.categories, used, strict=True))
            if occurs
        ],
        dtype=np.float64,
    )
    return estimate(
        table,
        _statistic(counts, places, level),
        name="Krippendorff's alpha",
        method=level,
        value=_value_by_package(counts, places, level),
        interval=interval,
        seed=seed,
        resamples=resamples,
    )


def _check_level(level: str, table: Ratings) -> None:
    if level not in get_args(Level):
        raise ValueError(f"level is one of {', '.join(get_args(Level))}, not {level!r}")
    if level == "nominal":
        return
    if not table.ordered:
        raise ValueError(
            f"{level} alpha needs the order of the scale; give the categories in order"
        )
    if level == "ordinal":
        return
    numbers = [c for c in table.categories if isinstance(c, int | float)]
    if len(numbers) < len(table.categories):
        raise ValueError(f"{level} alpha needs a scale of numbers")
    if level == "ratio" and any(c < 0 for c in numbers):
        raise ValueError("ratio alpha needs a scale of numbers of 0 or more")


def _value_by_package(counts: Patterns, places: FloatArray, level: Level) -> float | None:
    """The value as the krippendorff package gives it; None where the statistic must do."""
    units = int(counts.times.sum())
    if not units or len(places) < 2:
        return math.nan
    if units * len(places) ** 2 > MOST_FOR_PACKAGE:
        return None
    return float(
        krippendorff.alpha(
            value_counts=np.repeat(counts.rows, counts.times, axis=0),
            value_domain=places,
            level_of_measurement=level,
        )
    )


def _statistic(counts: Patterns, places: FloatArray, level: Level) -> Statistic:
    """Alpha as a function of how often each pattern occurs; nan where only one category does."""
    categories = len(places)
    judges = counts.rows.sum(axis=1)
    c, k = np.triu_indices(categories, 1)
    # Both o_ck and o_kc: a sum over c < k is one over all c and k, as d_cc is 0.
    coincidences = 2 * counts.rows[:, c] * counts.rows[:, k] / (judges - 1)[:, np.newaxis]
    rows = counts.rows.astype(np.float64)

    def values(times: FloatArray) -> FloatArray:
        margins = times @ rows
        distances = _distances(margins, places, level)
        observed = ((times @ coincidences) * distances).sum(axis=1)
        expected = 2 * (margins[:, c] * margins[:, k] * distances).sum(axis=1)
        return corrected(observed * (margins.sum(axis=1) - 1), expected)

    return Statistic(counts.times, values, scratch=6 * len(c) + 3 * categories)


def _distances(margins: FloatArray, places: FloatArray, level: Level) -> FloatArray:
    """d_ck for all c < k, shape (B or 1, K (K - 1) / 2), from margins (B, K)."""
    c, k = np.triu_indices(len(places), 1)
    if level == "nominal":
        return np.ones((1, len(c)))
    if level == "ordinal":
        # What lies between c and k, half of both counted, is the distance of their mean ranks.
        ranks = margins.cumsum(axis=1) - margins / 2
        return np.asarray((ranks[:, c] - ranks[:, k]) ** 2)
    distances = (places[c] - places[k]) ** 2
    if level == "ratio":
        distances /= (places[c] + places[k]) ** 2
    return np.asarray(distances[np.newaxis])
