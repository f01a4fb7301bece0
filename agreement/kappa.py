"""Cohen's kappa and Scott's pi of two raters, and their mean over the pairs of more raters."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from .coefficient import Coefficient
from .estimate import IntervalOptions, as_ratings, estimate
from .ratings import Ratings
from .row_arguments import Clusters
from .scales import Categories, Matrix
from .statistic import FloatArray, SparseTerms, Statistic, corrected, quotient
from .weights import Weights, describe_weights, disagreement

Array = npt.NDArray[Any]


def cohen_kappa(
    ratings: Ratings | Matrix,
    *,
    categories: Categories | None = None,
    weights: Weights = None,
    clusters: Clusters | None = None,
    **how: Unpack[IntervalOptions],
) -> Coefficient:
    r"""Return Cohen's kappa of two raters, plain or weighted; the mean over pairs of more raters.

    With p_jk the share of units that one rater put into j and the other into k, p_j. and p_.k the
    shares of either rater, and v_jk the weight of that disagreement,

        kappa = 1 - sum_jk v_jk p_jk / sum_jk v_jk p_j. p_.k,

    where v_jk is 1 off the diagonal for the plain kappa (Cohen 1960, Educational and Psychological
    Measurement 20, 37-46), and |j - k| or (j - k)^2 for linear or quadratic weights, j and k being
    positions on the scale (Cohen 1968, Psychological Bulletin 70, 213-220; the linear ones are
    those of Cicchetti and Allison 1971, the quadratic ones those of Fleiss and Cohen 1973).

    For more than two raters, this is the plain mean over all pairs of raters with a value, each on
    the units that both judged (Light 1971, Psychological Bulletin 76, 365-377); the note gives the
    number of pairs.

    Args:
        ratings: Matrix of units x raters, nan for missing; or ``Ratings``, but not of counts.
        categories: The scale in its order, or "seen". Weighted kappas of the two differ if an
            unused category is between used ones.
        weights: None, "linear", "quadratic", or a matrix (K, K) of weights of disagreement, of any
            unit: 0 on the diagonal, symmetric unless there are exactly two raters.
        clusters: The cluster of each unit, for an interval over clusters.
        **how: The interval, its seed and resamples: see ``IntervalOptions``.

    Raises:
        ValueError: invalid ``ratings``, ``categories`` or ``weights``, or ratings that do not say
            who judged.

    >>> yes_no = [[1, 1]] * 40 + [[1, 0]] * 9 + [[0, 1]] * 6 + [[0, 0]] * 45
    >>> print(cohen_kappa(yes_no, categories=[0, 1]))  # Feinstein and Cicchetti (1990)
    Cohen's kappa 0.700 (100 units, 2 raters)
    """
    table = as_ratings(ratings, categories, clusters)
    many = table.digits is not None and table.digits.shape[1] != 2
    return _pairwise_coefficient(
        table,
        disagreement(weights, table, symmetric=many),
        name="Cohen's kappa" if weights is None else "weighted kappa",
        weights=weights,
        same_margins=False,
        **how,
    )


def scott_pi(
    ratings: Ratings | Matrix,
    *,
    categories: Categories | None = None,
    weights: Weights = None,
    clusters: Clusters | None = None,
    **how: Unpack[IntervalOptions],
) -> Coefficient:
    r"""Scott's pi of two raters, plain or weighted; of more raters, the mean over their pairs.

    Like ``cohen_kappa``, but chance draws from the pooled choices of both raters: with
    p_k = (p_k. + p_.k) / 2,

        pi = 1 - sum_jk v_jk p_jk / sum_jk v_jk p_j p_k.

    Scott (1955), Public Opinion Quarterly 19, 321-325. For two raters it equals Fleiss' kappa,
    which, unlike the mean over pairs, is its usual generalisation to more raters.

    Args:
        ratings: Matrix of units x raters, nan for missing; or ``Ratings``, but not of counts.
        categories: The scale in its order, or "seen".
        weights: None, "linear", "quadratic", or a symmetric matrix (K, K) of weights of
            disagreement, of any unit, 0 on the diagonal.
        clusters: The cluster of each unit, for an interval over clusters.
        **how: The interval, its seed and resamples: see ``IntervalOptions``.

    Raises:
        ValueError: invalid ``ratings``, ``categories`` or ``weights``, or ratings that do not say
            who judged.

    >>> calls = [[1, 1]] * 20 + [[1, 2]] * 20 + [[2, 1]] * 10 + [[2, 2]] * 50
    >>> print(scott_pi(calls, categories=[1, 2]))  # Artstein and Poesio (2008)
    Scott's pi 0.341 (100 units, 2 raters)
    """
    table = as_ratings(ratings, categories, clusters)
    return _pairwise_coefficient(
        table,
        disagreement(weights, table, symmetric=True),
        name="Scott's pi" if weights is None else "weighted Scott's pi",
        weights=weights,
        same_margins=True,
        **how,
    )


def _pairwise_coefficient(
    table: Ratings,
    matrix: FloatArray,
    *,
    name: str,
    weights: Weights,
    same_margins: bool,
    **how: Unpack[IntervalOptions],
) -> Coefficient:
    tables = table.pair_tables
    sums = _sum_terms(tables, matrix)
    many = len(tables) > 1

    def value(sums: Array) -> Array:
        return _mean(_coefficients_by_pair(sums, matrix, same_margins=same_margins))

    note = ""
    if many:
        name += ", mean over pairs"
        kappas = _coefficients_by_pair(sums[np.newaxis], matrix, same_margins=same_margins)[0]
        note = _describe_pairs(table.raters, kappas)
    return estimate(
        table,
        Statistic(
            lambda: table.judged_together,
            lambda rows: _terms(rows, table.pairs or (), matrix).dense(),
            value,
            sums=sums,
            # Fleiss, Cohen and Everitt divide by N.
            lost=0,
            width=1 + 2 * len(matrix),
            sparse=lambda rows: _terms(rows, table.pairs or (), matrix),
        ),
        name=name,
        method=describe_weights(weights),
        note=note,
        undefined=(
            "no pair of raters has a value on the units that both judged"
            if many
            else "the weights are 0 for all categories that were used"
        ),
        **how,
    )


def _sum_terms(tables: npt.NDArray[np.int64], matrix: FloatArray) -> FloatArray:
    """Return the sums of ``_terms`` over all units, from the table of every pair (S, K, K)."""
    categories = len(matrix)
    sums = np.empty((len(tables), 1 + 2 * categories))
    sums[:, 0] = (tables * matrix).sum(axis=(1, 2))
    sums[:, 1 : 1 + categories] = tables.sum(axis=2)
    sums[:, 1 + categories :] = tables.sum(axis=1)
    return sums.ravel()


def _terms(
    rows: npt.NDArray[np.int64], pairs: tuple[tuple[int, int], ...], matrix: FloatArray
) -> SparseTerms:
    """Return the terms of a unit for every pair: weight of the disagreement, and both choices.

    There are S * (1 + 2 K) of them, zeros for a pair if one of the two did not judge.
    """
    categories = len(matrix)
    width = 1 + 2 * categories
    choices = np.ascontiguousarray(rows.T)
    judged, columns, terms = [], [], []
    for at, (first, second) in enumerate(pairs):
        of_first, of_second = choices[first], choices[second]
        both = np.flatnonzero((of_first >= 0) & (of_second >= 0))
        of_first, of_second = of_first[both], of_second[both]
        weights = matrix[of_first, of_second]
        apart = np.flatnonzero(weights)
        judged += [both[apart], both, both]
        columns += [
            np.full(len(apart), at * width),
            at * width + 1 + of_first,
            at * width + 1 + categories + of_second,
        ]
        terms += [weights[apart], np.ones(2 * len(both))]
    none = np.empty(0, dtype=np.int64)
    return SparseTerms(
        (len(rows), len(pairs) * width),
        np.concatenate([none, *judged]),
        np.concatenate([none, *columns]),
        np.concatenate([none, *terms]).astype(np.float64),
    )


def _coefficients_by_pair(sums: Array, matrix: FloatArray, *, same_margins: bool) -> Array:
    """Return the coefficients of pairs (B, S) from sums (B, S * (1 + 2 K)); nan: no value."""
    categories = len(matrix)
    by_pair = sums.reshape(len(sums), -1, 1 + 2 * categories)
    first, second = by_pair[:, :, 1 : 1 + categories], by_pair[:, :, 1 + categories :]
    if same_margins:
        first = second = (first + second) / 2
    expected = ((first @ matrix) * second).sum(axis=2)
    return corrected(by_pair[:, :, 0] * first.sum(axis=2), expected)


def _mean(kappas: Array) -> Array:
    """Return the mean over pairs with a value, shape (B,); nan if no pair has one."""
    if kappas.shape[1] == 1:
        return kappas[:, 0]
    without = np.isnan(kappas)
    return quotient(np.where(without, 0, kappas).sum(axis=1), 1.0 * (~without).sum(axis=1))


def _describe_pairs(raters: int, kappas: FloatArray) -> str:
    """Describe the mean's pairs, from the values of those with a unit in common, shape (S,)."""
    valued = int((~np.isnan(kappas)).sum())
    possible = raters * (raters - 1) // 2
    note = f"mean over {valued} of {possible} pairs of raters"
    if possible > len(kappas):
        note += f"; {possible - len(kappas)} without a unit that both judged"
    if valued < len(kappas):
        note += f"; {len(kappas) - valued} without a value (a single category)"
    return note
