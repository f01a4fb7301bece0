"""Coefficients that do not distinguish raters: percent agreement, Fleiss' kappa, Gwet's AC1, AC2.

They use how many raters put a unit into each category. Their common sums: with r_ik of r_i raters
of unit i in category k, and v_jk the weight of a disagreement,

    d_i = sum_jk v_jk r_ij r_ik / (r_i (r_i - 1))

is the disagreement within the unit, d its mean over the N units that at least two raters judged,
and p_k = 1/N sum_i r_ik / r_i the mean share of category k.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from .coefficient import Coefficient
from .estimate import IntervalOptions, as_ratings, estimate
from .ratings import ONE_RATER, Ratings
from .row_arguments import Clusters
from .scales import Categories, Matrix
from .statistic import FloatArray, Statistic, corrected, quotient
from .weights import Weights, describe_weights, disagreement

Array = npt.NDArray[Any]


def percent_agreement(
    ratings: Ratings | Matrix,
    *,
    categories: Categories | None = None,
    clusters: Clusters | None = None,
    **how: Unpack[IntervalOptions],
) -> Coefficient:
    r"""Return the share of agreeing pairs of ratings in a unit, averaged over units; from 0 to 1.

    With n_ik raters of unit i in category k and n_i raters in all,

        p_a = 1/N sum_i [ sum_k n_ik (n_ik - 1) ] / [ n_i (n_i - 1) ],

    over the N units that at least two raters judged. For two raters this is the share of units on
    which they agree; it is P-bar of Fleiss (1971), Psychological Bulletin 76, 378-382.

    Args:
        ratings: Matrix of units x raters, nan for missing; or ``Ratings``.
        categories: The scale in its order, or "seen".
        clusters: The cluster of each unit, for an interval over clusters.
        **how: The interval, its seed and resamples: see ``IntervalOptions``.

    Raises:
        ValueError: invalid ``ratings`` or ``categories``.

    >>> percent_agreement([[0, 0], [1, 1], [1, 0], [1, 1]], categories=[0, 1]).value
    0.75
    """
    table = as_ratings(ratings, categories, clusters)
    return estimate(
        table,
        _statistic(table, disagreement(None, table), lambda shares: np.ones(len(shares))),
        name="percent agreement",
        method="mean over units of the share of agreeing pairs",
        **how,
        of_one_category=True,
    )


def fleiss_kappa(
    ratings: Ratings | Matrix,
    *,
    categories: Categories | None = None,
    weights: Weights = None,
    single_ratings: bool = False,
    clusters: Clusters | None = None,
    **how: Unpack[IntervalOptions],
) -> Coefficient:
    r"""Return Fleiss' kappa for any number of raters, who may differ from unit to unit.

    With p_a as in ``percent_agreement`` and p_k = 1/N sum_i n_ik / n_i the mean share of
    category k,

        kappa = (p_a - p_e) / (1 - p_e),    p_e = sum_k p_k^2.

    Fleiss (1971), Psychological Bulletin 76, 378-382, defines it for the same number of raters on
    every unit. If the numbers differ, the same formula gives the generalisation of Gwet (2014),
    Handbook of Inter-Rater Reliability, 4th edition, chapter 2, and the result's name says so. But
    a unit with a single rating counts neither in p_a nor in p_k, unless ``single_ratings`` includes
    it in p_k as Gwet does. With weights it is Gwet's weighted form, 1 - d / sum_jk v_jk p_j p_k
    with the mean disagreement d.

    Args:
        ratings: Matrix of units x raters, nan for missing; or ``Ratings``.
        categories: The scale in its order, or "seen"; both give the same value without weights.
        weights: None, "linear", "quadratic", or a symmetric matrix (K, K) of weights of
            disagreement, of any unit, 0 on the diagonal.
        single_ratings: Whether units with a single rating enter the shares of the categories.
        clusters: The cluster of each unit, for an interval over clusters.
        **how: The interval, its seed and resamples: see ``IntervalOptions``.

    Raises:
        ValueError: invalid ``ratings``, ``categories`` or ``weights``.

    >>> wikipedia = [[0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0],
    ...     [2, 2, 8, 1, 1], [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0],
    ...     [0, 2, 2, 3, 7]]
    >>> print(fleiss_kappa(Ratings.from_counts(wikipedia, categories=[1, 2, 3, 4, 5])))
    Fleiss' kappa 0.210 (10 units, 14 raters)
    """
    table = as_ratings(ratings, categories, clusters)
    matrix = disagreement(weights, table, symmetric=True)
    statistic = _statistic(table, matrix, _pooled_chance(matrix), single_ratings=single_ratings)
    fewest, most = _numbers_of_raters(table)
    equal = fewest == most
    return estimate(
        table,
        statistic,
        name=("weighted Fleiss' kappa" if weights is not None else "Fleiss' kappa")
        + ("" if equal else ", generalised"),
        method=f"{'' if weights is None else describe_weights(weights) + ', '}"
        f"{'equal' if equal else 'unequal'} numbers of raters per unit",
        note="; ".join(
            part
            for part in (
                ""
                if equal
                else f"{fewest} to {most} raters per unit: Fleiss' kappa is defined for "
                "equal numbers, this is its generalisation to unequal ones",
                _describe_single_ratings(table) if single_ratings else "",
            )
            if part
        ),
        undefined="the weights are 0 for all categories that were used",
        **how,
    )


def gwet_ac(
    ratings: Ratings | Matrix,
    *,
    categories: Categories | None = None,
    weights: Weights = None,
    single_ratings: bool = False,
    clusters: Clusters | None = None,
    **how: Unpack[IntervalOptions],
) -> Coefficient:
    r"""Return Gwet's AC1, or AC2 with weights, for any number of raters.

    With w_jk = 1 - v_jk / max v the weights of agreement, K categories, p_k as for Fleiss' kappa
    and p_a the mean weighted agreement within a unit,

        AC = (p_a - p_e) / (1 - p_e),    p_e = sum_jk w_jk / (K (K - 1)) sum_k p_k (1 - p_k).

    AC1, without weights, is from Gwet (2008), British Journal of Mathematical and Statistical
    Psychology 61, 29-48; AC2 and the form for missing ratings are from Gwet (2014), Handbook of
    Inter-Rater Reliability, 4th edition, chapters 2 and 4, except that a unit with a single rating
    counts in p_k only with ``single_ratings``. The value depends on the number of categories of the
    scale, so an unused category makes a difference.

    Args:
        ratings: Matrix of units x raters, nan for missing; or ``Ratings``.
        categories: The scale in its order, or "seen"; the two differ.
        weights: None, "linear", "quadratic", or a symmetric matrix (K, K) of weights of
            disagreement, of any unit, 0 on the diagonal.
        single_ratings: Whether units with a single rating enter the shares of the categories.
        clusters: The cluster of each unit, for an interval over clusters.
        **how: The interval, its seed and resamples: see ``IntervalOptions``.

    Raises:
        ValueError: invalid ``ratings``, ``categories`` or ``weights``.

    >>> print(gwet_ac([[1, 1]] * 80 + [[1, 0]] * 10 + [[0, 1]] * 5 + [[0, 0]] * 5,
    ...     categories=[0, 1]))
    Gwet's AC1 0.808 (100 units, 2 raters)
    """
    table = as_ratings(ratings, categories, clusters)
    matrix = disagreement(weights, table, symmetric=True)
    size = len(matrix)
    largest = matrix.max(initial=0)
    if largest:
        matrix = matrix / largest
    spread = (1 - matrix).sum() / (size * (size - 1)) if size > 1 else 0.0

    def by_chance(shares: Array) -> Array:
        return np.asarray(1 - spread * (shares * (1 - shares)).sum(axis=1))

    return estimate(
        table,
        _statistic(table, matrix, by_chance, single_ratings=single_ratings),
        name="Gwet's AC1" if weights is None else "Gwet's AC2",
        method=describe_weights(weights),
        note=_describe_single_ratings(table) if single_ratings else "",
        undefined="the weights are 0 for all categories that were used",
        **how,
    )


def _pooled_chance(matrix: FloatArray) -> Callable[[Array], Array]:
    """Return a function from shares (B, K) to the disagreement (B,) of two draws from them."""

    def by_chance(shares: Array) -> Array:
        return np.asarray(((shares @ matrix) * shares).sum(axis=1))

    return by_chance


def _statistic(
    table: Ratings,
    matrix: FloatArray,
    by_chance: Callable[[Array], Array],
    *,
    single_ratings: bool = False,
) -> Statistic:
    """Return 1 - mean disagreement within units / chance disagreement for the mean shares (B, K).

    The sums: disagreements, units with two or more ratings, units that count in shares, shares.
    """
    fewest = 1 if single_ratings else 2

    def terms(rows: npt.NDArray[np.int64]) -> FloatArray:
        judges = rows.sum(axis=1)
        terms_of_rows = np.empty((len(rows), 3 + rows.shape[1]))
        # A single rating has no pairs and no disagreement; this avoids dividing by 0.
        pairs = np.maximum(judges * (judges - 1), 1)
        terms_of_rows[:, 0] = ((rows @ matrix) * rows).sum(axis=1) / pairs
        terms_of_rows[:, 1] = judges > 1
        terms_of_rows[:, 2] = 1
        terms_of_rows[:, 3:] = rows / judges[:, np.newaxis]
        return terms_of_rows

    def value(sums: Array) -> Array:
        disagreement = quotient(sums[:, 0], sums[:, 1])
        # A resample of clusters may have no units: then it has no disagreement and no value.
        units = np.where(sums[:, 2:3].real > 0, sums[:, 2:3], 1)
        return corrected(disagreement, by_chance(sums[:, 3:] / units))

    return Statistic(
        lambda: table.with_ratings(fewest), terms, value, of_counts=True, fewest=fewest
    )


def _describe_single_ratings(table: Ratings) -> str:
    single = sum(entry.units for entry in table.excluded if entry.reason == ONE_RATER)
    return f"{single:,} units with a single rating count in the shares of the categories only"


def _numbers_of_raters(table: Ratings) -> tuple[int, int]:
    """Return the smallest and largest number of raters on a unit that at least two judged."""
    judges = table.shared.rows.sum(axis=1)
    return (int(judges.min()), int(judges.max())) if len(judges) else (0, 0)
