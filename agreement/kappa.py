"""Percent agreement, Cohen's kappa and Fleiss' kappa."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from .bootstrap import FloatArray, Statistic
from .coefficient import Coefficient
from .estimate import IntervalMethod, corrected, estimate, quotient
from .tables import Categories, Matrix, Patterns, Ratings, as_ratings

Weights: TypeAlias = Literal["linear", "quadratic"] | npt.ArrayLike | None


def percent_agreement(
    ratings: Ratings | Matrix,
    *,
    categories: Categories | None = None,
    interval: IntervalMethod = None,
    seed: int = 0,
    resamples: int = 10_000,
) -> Coefficient:
    r"""The share of agreeing pairs of ratings in a unit, averaged over units; from 0 to 1.

    With n_ik raters of unit i in category k and n_i raters in all,

        p_a = 1/N sum_i [ sum_k n_ik (n_ik - 1) ] / [ n_i (n_i - 1) ],

    over the N units that at least two raters judged. For two raters this is the share of units on
    which they agree; it is P-bar of Fleiss (1971), Psychological Bulletin 76, 378-382.

    Args:
        ratings: Matrix of units x raters, nan for missing; or ``Ratings``.
        categories: The scale in its order, or "seen".
        interval: "bootstrap" for a 95 % interval.
        seed: Seed of the bootstrap.
        resamples: Number of resamples.

    Raises:
        ValueError: ``ratings`` or ``categories`` are not what they should be.

    >>> percent_agreement([[0, 0], [1, 1], [1, 0], [1, 1]], categories=[0, 1]).value
    0.75
    """
    table = as_ratings(ratings, categories)
    shared = table.shared
    agreeing = _agreeing(shared)

    def values(times: FloatArray) -> FloatArray:
        return np.asarray(times @ agreeing / times.sum(axis=1))

    return estimate(
        table,
        Statistic(shared.times, values, scratch=1),
        name="percent agreement",
        method="mean over units of the share of agreeing pairs",
        interval=interval,
        seed=seed,
        resamples=resamples,
    )


def fleiss_kappa(
    ratings: Ratings | Matrix,
    *,
    categories: Categories | None = None,
    interval: IntervalMethod = None,
    seed: int = 0,
    resamples: int = 10_000,
) -> Coefficient:
    r"""Fleiss' kappa for any number of raters, who need not be the same from unit to unit.

    With p_a as in ``percent_agreement`` and p_k = 1/N sum_i n_ik / n_i the mean share of
    category k,

        kappa = (p_a - p_e) / (1 - p_e),    p_e = sum_k p_k^2.

    Fleiss (1971), Psychological Bulletin 76, 378-382, defines it for the same number of raters on
    every unit. Where the numbers differ, the same formula gives the generalisation of Gwet (2014),
    Handbook of Inter-Rater Reliability, 4th edition, chapter 2, and the result is named so; but a
    unit with a single rater enters neither p_a nor p_k, where Gwet keeps it in p_k.

    Args:
        ratings: Matrix of units x raters, nan for missing; or ``Ratings``.
        categories: The scale in its order, or "seen"; both give the same value.
        interval: "bootstrap" for a 95 % interval.
        seed: Seed of the bootstrap.
        resamples: Number of resamples.

    Raises:
        ValueError: ``ratings`` or ``categories`` are not what they should be.

    >>> wikipedia = [[0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0],
    ...     [2, 2, 8, 1, 1], [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0],
    ...     [0, 2, 2, 3, 7]]
    >>> print(fleiss_kappa(Ratings.from_counts(wikipedia, categories=[1, 2, 3, 4, 5])))
    Fleiss' kappa 0.210 (10 units, 14 raters)
    """
    table = as_ratings(ratings, categories)
    shared = table.shared
    judges = shared.rows.sum(axis=1)
    agreeing = _agreeing(shared)
    shares = shared.rows[:, table.used] / judges[:, np.newaxis]

    def values(times: FloatArray) -> FloatArray:
        units = times.sum(axis=1)
        disagreement = 1 - times @ agreeing / units
        by_chance = 1 - ((times @ shares / units[:, np.newaxis]) ** 2).sum(axis=1)
        return corrected(disagreement, by_chance)

    equal = len(np.unique(judges)) < 2
    return estimate(
        table,
        Statistic(shared.times, values, scratch=4 * shares.shape[1]),
        name="Fleiss' kappa" if equal else "Fleiss' kappa, generalised",
        method=f"{'equal' if equal else 'unequal'} numbers of raters per unit",
        note=(
            ""
            if equal
            else f"{judges.min()} to {judges.max()} raters per unit: Fleiss' kappa is defined for "
            "equal numbers, this is its generalisation to unequal ones"
        ),
        interval=interval,
        seed=seed,
        resamples=resamples,
    )


def cohen_kappa(
    ratings: Ratings | Matrix,
    *,
    categories: Categories | None = None,
    weights: Weights = None,
    interval: IntervalMethod = None,
    seed: int = 0,
    resamples: int = 10_000,
) -> Coefficient:
    r"""Cohen's kappa of two raters, plain or weighted; of more raters, the mean over their pairs.

    With p_jk the share of units that one rater put into j and the other into k, p_j. and p_.k the
    shares of either rater, and v_jk the weight of that disagreement,

        kappa = 1 - sum_jk v_jk p_jk / sum_jk v_jk p_j. p_.k,

    where v_jk is 1 off the diagonal for the plain kappa (Cohen 1960, Educational and Psychological
    Measurement 20, 37-46), and |j - k| or (j - k)^2 for linear or quadratic weights, j and k being
    positions on the scale (Cohen 1968, Psychological Bulletin 70, 213-220; the linear ones are
    those of Cicchetti and Allison 1971, the quadratic ones those of Fleiss and Cohen 1973).

    For more than two raters this is the plain mean over all pairs of raters with a value, each on
    the units that both judged (Light 1971, Psychological Bulletin 76, 365-377); the note says how
    many pairs.

    Args:
        ratings: Matrix of units x raters, nan for missing; or ``Ratings``, but not of counts.
        categories: The scale in its order, or "seen". Weighted kappas of the two differ where an
            unused category lies between used ones.
        weights: None, "linear", "quadratic", or a matrix (K, K) of weights of disagreement, of any
            unit: 0 on the diagonal, symmetric unless there are exactly two raters.
        interval: "bootstrap" for a 95 % interval.
        seed: Seed of the bootstrap.
        resamples: Number of resamples.

    Raises:
        ValueError: ``ratings``, ``categories`` or ``weights`` are not what they should be, or the
            ratings do not say who judged.

    >>> yes_no = [[1, 1]] * 40 + [[1, 0]] * 9 + [[0, 1]] * 6 + [[0, 0]] * 45
    >>> print(cohen_kappa(yes_no, categories=[0, 1]))  # Feinstein and Cicchetti (1990)
    Cohen's kappa 0.700 (100 units, 2 raters)
    """
    table = as_ratings(ratings, categories)
    matrix = _disagreement(weights, table)
    rows, times = table.judged.where((table.judged.rows >= 0).sum(axis=1) >= 2)
    pairs = table.pairs or ()

    def by_pair(times: FloatArray) -> FloatArray:
        return np.array([_kappa_of_two(times, rows[:, pair], matrix) for pair in pairs])

    def values(times: FloatArray) -> FloatArray:
        kappas = by_pair(times)
        defined = ~np.isnan(kappas)
        return quotient(np.where(defined, kappas, 0.0).sum(axis=0), 1.0 * defined.sum(axis=0))

    statistic = Statistic(times, values, scratch=4 * len(matrix) + len(pairs))
    name = "Cohen's kappa" if weights is None else "weighted kappa"
    many = len(pairs) > 1
    if many:
        name += ", mean over pairs"
    return estimate(
        table,
        statistic,
        name=name,
        method=_weights_in_words(weights),
        note=_pairs_in_words(table.raters, by_pair(times[np.newaxis].astype(np.float64)))
        if many
        else "",
        undefined=(
            "no pair of raters has a value on the units that both judged"
            if many
            else "the weights are 0 for all categories that were used"
        ),
        interval=interval,
        seed=seed,
        resamples=resamples,
    )


def _agreeing(shared: Patterns) -> FloatArray:
    """Shape (P,): the share of pairs of ratings in a unit that agree."""
    judges = shared.rows.sum(axis=1)
    pairs_of_ratings = judges * (judges - 1)
    return np.asarray((shared.rows * (shared.rows - 1)).sum(axis=1) / pairs_of_ratings)


def _kappa_of_two(times: FloatArray, rows: npt.NDArray[np.int64], matrix: FloatArray) -> FloatArray:
    """Kappa of two raters, shape (B,), from patterns (P, 2) and how often each occurs, (B, P)."""
    categories = len(matrix)
    # A pattern that one of the two did not judge adds zeros: cheaper than leaving its column out.
    both = (rows >= 0).all(axis=1, keepdims=True)
    first, second = np.where(both, rows, categories).T
    one_hot = np.eye(categories + 1, categories)
    weight = np.pad(matrix, (0, 1))[first, second]
    sums = times @ np.column_stack([weight, one_hot[first], one_hot[second]])
    observed, of_first, of_second = np.split(sums, [1, 1 + categories], axis=1)
    expected = ((of_first @ matrix) * of_second).sum(axis=1)
    return corrected(observed[:, 0] * of_first.sum(axis=1), expected)


def _disagreement(weights: Weights, table: Ratings) -> FloatArray:
    """Shape (K, K): how much it counts that one rater chose j and the other k."""
    categories = len(table.categories)
    if weights is None:
        return 1 - np.eye(categories)
    if isinstance(weights, str):
        if weights not in ("linear", "quadratic"):
            raise ValueError(
                f'weights are None, "linear", "quadratic" or a matrix, not {weights!r}'
            )
        if not table.ordered:
            raise ValueError(
                f"{weights} weights need the order of the scale; give the categories in order"
            )
        steps = np.abs(np.subtract.outer(np.arange(categories), np.arange(categories)))
        return np.asarray(steps ** (1 if weights == "linear" else 2), dtype=np.float64)
    matrix = np.asarray(weights, dtype=np.float64)
    if matrix.shape != (categories, categories):
        raise ValueError(
            f"weights must have the shape {(categories, categories)}, one row and one column per "
            f"category; these have {matrix.shape}"
        )
    if not np.isfinite(matrix).all() or (matrix < 0).any():
        raise ValueError("weights of disagreement are numbers of 0 or more")
    if np.diagonal(matrix).any():
        raise ValueError(
            "weights of disagreement are 0 on the diagonal; "
            "of weights of agreement w, take w.max() - w"
        )
    if (matrix != matrix.T).any() and table.digits is not None and len(table.digits) != 2:
        raise ValueError("with more than two raters, weights must be symmetric")
    return matrix


def _weights_in_words(weights: Weights) -> str:
    if weights is None:
        return "unweighted"
    return f"{weights} weights" if isinstance(weights, str) else "own weights"


def _pairs_in_words(raters: int, kappas: FloatArray) -> str:
    """What the mean is over, from the kappas of the pairs with a unit in common, shape (S, 1)."""
    valued = int((~np.isnan(kappas)).sum())
    possible = raters * (raters - 1) // 2
    note = f"mean over {valued} of {possible} pairs of raters"
    if possible > len(kappas):
        note += f"; {possible - len(kappas)} without a unit that both judged"
    if valued < len(kappas):
        note += f"; {len(kappas) - valued} without a value (a single category)"
    return note
