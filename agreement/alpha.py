"""Krippendorff's alpha."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, Literal, TypeAlias, Unpack, get_args

import krippendorff
import numpy as np
import numpy.typing as npt

from .coefficient import Coefficient
from .counting import Patterns
from .estimate import IntervalOptions, as_ratings, estimate
from .ratings import Ratings
from .row_arguments import Clusters
from .scales import Categories, Matrix
from .statistic import FloatArray, Statistic, corrected

Level: TypeAlias = Literal["nominal", "ordinal", "interval", "ratio"]

# The krippendorff package builds several arrays of units x categories x categories. With up to this
# many numbers in each, it takes a millisecond; for larger ones the formula is summed over patterns.
MOST_FOR_PACKAGE = 2_000


def krippendorff_alpha(
    ratings: Ratings | Matrix,
    *,
    categories: Categories | None = None,
    level: Level = "nominal",
    clusters: Clusters | None = None,
    **how: Unpack[IntervalOptions],
) -> Coefficient:
    r"""Return Krippendorff's alpha for any number of raters, also with missing values.

    With the coincidences o_ck = sum_i n_ic (n_ik - [c = k]) / (n_i - 1), their margins n_c and
    their sum n,

        alpha = 1 - (n - 1) sum_ck o_ck d_ck / sum_ck n_c n_k d_ck,

    where d_ck is [c != k] for nominal, (c - k)^2 for interval, ((c - k) / (c + k))^2 for ratio
    values, and for ordinal values the square of the number of values between c and k, plus half of
    those in c and in k. Krippendorff (2011), Computing Krippendorff's Alpha-Reliability.

    The value comes from the krippendorff package, on value counts. For tables too large for it,
    and for the resamples, the same formula is summed over the distinct patterns of values.

    Args:
        ratings: Matrix of units x raters, nan for missing; or ``Ratings``.
        categories: The scale in its order, or "seen"; both give the same value.
        level: How the distance of two categories is defined; all but nominal need an ordered
            scale, interval and ratio a scale of numbers, ratio of numbers of 0 or more.
        clusters: The cluster of each unit, for an interval over clusters.
        **how: The interval, its seed and resamples: see ``IntervalOptions``.

    Raises:
        ValueError: invalid ``ratings``, ``categories`` or ``level``.

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
    table = as_ratings(ratings, categories, clusters)
    _check_level(level, table)
    shared, used = table.shared, table.used
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
        _statistic(table, places, level),
        name="Krippendorff's alpha",
        method=level,
        value=_value_by_package(shared, used, places, level),
        **how,
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


def _value_by_package(
    shared: Patterns, used: npt.NDArray[np.bool_], places: FloatArray, level: Level
) -> float | None:
    """Return the krippendorff package's value; None if the statistic must compute it."""
    units = int(shared.times.sum())
    if len(places) < 2 or units * len(places) ** 2 > MOST_FOR_PACKAGE:
        return None
    return float(
        krippendorff.alpha(
            value_counts=np.repeat(shared.rows[:, used], shared.times, axis=0),
            value_domain=places,
            level_of_measurement=level,
        )
    )


def _statistic(table: Ratings, places: FloatArray, level: Level) -> Statistic:
    """Return alpha as a function of sums; it is nan if only one category was used.

    The sums are those of the weighted coincidences o_ck d_ck and of the margins n_c. Ordinal
    distances depend on the margins, so for them the coincidences of all c < k are summed.
    """
    used = np.flatnonzero(table.used)
    if level == "ordinal":
        return Statistic(
            lambda: table.shared,
            lambda rows: _ordinal_terms(rows[:, used]),
            _ordinal_value,
            of_counts=True,
        )
    distances = _distances(places, level)

    def terms(rows: npt.NDArray[np.int64]) -> FloatArray:
        of_used = rows[:, used].astype(np.float64)
        terms_of_rows = np.empty((len(rows), 1 + len(used)))
        terms_of_rows[:, 0] = ((of_used @ distances) * of_used).sum(axis=1) / (rows.sum(axis=1) - 1)
        terms_of_rows[:, 1:] = of_used
        return terms_of_rows

    def value(sums: npt.NDArray[Any]) -> npt.NDArray[Any]:
        margins = sums[:, 1:]
        expected = ((margins @ distances) * margins).sum(axis=1)
        return corrected(sums[:, 0] * (margins.sum(axis=1) - 1), expected)

    return Statistic(lambda: table.shared, terms, value, of_counts=True)


def _ordinal_terms(rows: npt.NDArray[np.int64]) -> FloatArray:
    c, k = _below_the_diagonal(rows.shape[1])
    of_used = rows.astype(np.float64)
    # Both o_ck and o_kc, so that a sum over c < k covers all c and k: d_cc is 0.
    coincidences = 2 * of_used[:, c] * of_used[:, k] / (rows.sum(axis=1) - 1)[:, np.newaxis]
    return np.hstack([of_used, coincidences])


def _ordinal_value(sums: npt.NDArray[Any]) -> npt.NDArray[Any]:
    # K margins and K (K - 1) / 2 coincidences.
    categories = round((math.sqrt(8 * sums.shape[1] + 1) - 1) / 2)
    c, k = _below_the_diagonal(categories)
    margins, coincidences = sums[:, :categories], sums[:, categories:]
    # The values between c and k, plus half of those in each, are the distance of their mean ranks.
    ranks = margins.cumsum(axis=1) - margins / 2
    distances = (ranks[:, c] - ranks[:, k]) ** 2
    observed = (coincidences * distances).sum(axis=1)
    expected = 2 * (margins[:, c] * margins[:, k] * distances).sum(axis=1)
    return corrected(observed * (margins.sum(axis=1) - 1), expected)


@lru_cache(maxsize=64)
def _below_the_diagonal(
    categories: int,
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the indices of all pairs c < k."""
    return np.triu_indices(categories, 1)


def _distances(places: FloatArray, level: Level) -> FloatArray:
    """Return the distances of all c and k, shape (K, K)."""
    if level == "nominal":
        return np.asarray(1 - np.eye(len(places)))
    distances = np.subtract.outer(places, places) ** 2
    if level == "ratio":
        sums = np.add.outer(places, places) ** 2
        # Only 0 and 0 have the sum 0, and their distance is 0.
        distances = np.divide(distances, sums, out=np.zeros_like(sums), where=sums > 0)
    return np.asarray(distances)
