"""Supplements to a coefficient: all pairs, single categories, prevalence and bias."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from .coefficient import Coefficient
from .estimate import IntervalOptions, as_ratings, estimate
from .kappa import cohen_kappa
from .ratings import Ratings
from .row_arguments import Clusters
from .scales import Categories, Matrix
from .statistic import FloatArray, Statistic, corrected, quotient

Array = npt.NDArray[Any]


class PairAgreement(NamedTuple):
    """Two raters, and their agreement on the units that both judged.

    Attributes:
        first: Column of the first rater.
        second: Column of the second rater.
        names: Their names; their columns if the names are not known.
        units: How many units both judged.
        agreement: The coefficient of the two; without a value if they share no unit.
    """

    first: int
    second: int
    names: tuple[Hashable, Hashable]
    units: int
    agreement: Coefficient


class CategoryAgreement(NamedTuple):
    """Agreement on a single category.

    Attributes:
        category: The category.
        specific: Its specific agreement: if one of two raters of a unit chose it, how often the
            other did too.
        kappa: Fleiss' kappa of this category against all others.
    """

    category: Hashable
    specific: Coefficient
    kappa: Coefficient


def by_pair(
    ratings: Ratings | Matrix,
    *,
    categories: Categories | None = None,
    coefficient: Callable[..., Coefficient] = cohen_kappa,
    clusters: Clusters | None = None,
    **options: Any,
) -> tuple[PairAgreement, ...]:
    """Return the agreement of all pairs of raters, including those without a unit in common.

    Args:
        ratings: Matrix of units x raters, nan for missing; or ``Ratings``, but not of counts.
        categories: The scale in its order, or "seen" (by any rater, not per pair).
        coefficient: The coefficient; by default Cohen's kappa.
        clusters: The cluster of each unit, for intervals over clusters.
        **options: Other arguments of the coefficient, such as weights, interval and seed.

    Raises:
        ValueError: as raised by the coefficient.

    >>> found = by_pair([[0, 0, None], [1, 1, 1]], categories=[0, 1])
    >>> [(pair.first, pair.second, pair.units) for pair in found]
    [(0, 1, 2), (0, 2, 1), (1, 2, 1)]
    """
    table = as_ratings(ratings, categories, clusters)
    count = table.known.shape[1]
    names = table.names or tuple(range(count))
    in_common = table.in_common
    return tuple(
        PairAgreement(
            first,
            second,
            (names[first], names[second]),
            0 if in_common is None else int(in_common[first, second]),
            coefficient(table.of([first, second]), **options),
        )
        for first in range(count)
        for second in range(first + 1, count)
    )


def by_category(
    ratings: Ratings | Matrix,
    *,
    categories: Categories | None = None,
    clusters: Clusters | None = None,
    **how: Unpack[IntervalOptions],
) -> tuple[CategoryAgreement, ...]:
    r"""Return the agreement on each category of the scale.

    With n_ik of n_i raters of unit i in category k,

        specific agreement = sum_i n_ik (n_ik - 1) / (n_i - 1) / sum_i n_ik,

    which for two raters and two categories is the positive and the negative agreement of Cicchetti
    and Feinstein (1990), Journal of Clinical Epidemiology 43, 551-558, and for equal numbers of
    raters the conditional probability of Fleiss (1971), Psychological Bulletin 76, 378-382. The
    kappa of a category, also from Fleiss, is his kappa on the scale of this category and the rest.

    Args:
        ratings: Matrix of units x raters, nan for missing; or ``Ratings``.
        categories: The scale in its order, or "seen".
        clusters: The cluster of each unit, for intervals over clusters.
        **how: The interval, its seed and resamples: see ``IntervalOptions``.

    Raises:
        ValueError: invalid ``ratings`` or ``categories``.

    >>> yes_no = [[1, 1]] * 80 + [[1, 0]] * 10 + [[0, 1]] * 5 + [[0, 0]] * 5
    >>> [round(one.specific.value, 3) for one in by_category(yes_no, categories=[0, 1])]
    [0.4, 0.914]
    """
    table = as_ratings(ratings, categories, clusters)
    return tuple(
        CategoryAgreement(
            category,
            estimate(
                table,
                Statistic(lambda: table.shared, _specific_terms(at), _share, of_counts=True),
                name=f"specific agreement on {category}",
                method="share of agreeing pairs among those with a rating in the category",
                undefined="the category was not used",
                of_one_category=True,
                **how,
            ),
            estimate(
                table,
                Statistic(
                    lambda: table.shared, _against_the_rest(at), _fleiss_of_two, of_counts=True
                ),
                name=f"Fleiss' kappa of {category} against the rest",
                method="this category and all others",
                undefined="the category was not used, or no other was",
                **how,
            ),
        )
        for at, category in enumerate(table.categories)
    )


def prevalence_index(
    ratings: Ratings | Matrix,
    *,
    categories: Categories | None = None,
    of: Hashable = None,
    clusters: Clusters | None = None,
    **how: Unpack[IntervalOptions],
) -> Coefficient:
    r"""Return how much more often two raters agree on a category than on its absence, -1 to 1.

    With a of N units on which both chose the category and d on which neither did, (a - d) / N:
    Byrt, Bishop and Carlin (1993), Journal of Clinical Epidemiology 46, 423-429. If it is far from
    0, kappa is low despite much agreement.

    Args:
        ratings: Matrix of units x two raters, nan for missing; or ``Ratings``, but not of counts.
        categories: The scale in its order, or "seen".
        of: The category; required if the scale has more than two. By default the last of two.
        clusters: The cluster of each unit, for an interval over clusters.
        **how: The interval, its seed and resamples: see ``IntervalOptions``.

    Raises:
        ValueError: invalid ``ratings`` or ``categories``, more or fewer than two raters, or an
            ``of`` that is missing or not on the scale.

    >>> prevalence_index([[1, 1]] * 80 + [[1, 0]] * 10 + [[0, 1]] * 5 + [[0, 0]] * 5,
    ...     categories=[0, 1]).value
    0.75
    """
    table, at = _two_raters_and_category(ratings, categories, of, clusters)

    def terms(rows: npt.NDArray[np.int64]) -> FloatArray:
        chose = (rows == at).sum(axis=1)
        return np.column_stack([np.ones(len(rows)), 1.0 * (chose == 2) - 1.0 * (chose == 0)])

    return _index(table, terms, "prevalence index", at, **how)


def bias_index(
    ratings: Ratings | Matrix,
    *,
    categories: Categories | None = None,
    of: Hashable = None,
    clusters: Clusters | None = None,
    **how: Unpack[IntervalOptions],
) -> Coefficient:
    r"""Return how much more often the first of two raters chose a category, from -1 to 1.

    With b of N units on which only the first chose it and c on which only the second did,
    (b - c) / N: Byrt, Bishop and Carlin (1993). If it is far from 0, kappa is higher than for the
    same agreement without bias.

    Arguments and errors are those of ``prevalence_index``.

    >>> bias_index([[1, 1]] * 80 + [[1, 0]] * 10 + [[0, 1]] * 5 + [[0, 0]] * 5,
    ...     categories=[0, 1]).value
    0.05
    """
    table, at = _two_raters_and_category(ratings, categories, of, clusters)

    def terms(rows: npt.NDArray[np.int64]) -> FloatArray:
        chose = 1.0 * (rows == at)
        return np.column_stack([np.ones(len(rows)), chose[:, 0] - chose[:, 1]])

    return _index(table, terms, "bias index", at, **how)


def _index(
    table: Ratings,
    terms: Callable[[npt.NDArray[np.int64]], FloatArray],
    name: str,
    at: int,
    **how: Unpack[IntervalOptions],
) -> Coefficient:
    if how.get("interval") == "analytic":
        raise ValueError('the interval of an index must be "bootstrap" or "bca"')
    return estimate(
        table,
        Statistic(
            lambda: table.judged_together, terms, lambda sums: quotient(sums[:, 1], sums[:, 0])
        ),
        name=name,
        method=f"of {table.categories[at]}" if table.categories else "",
        **how,
        of_one_category=True,
    )


def _two_raters_and_category(
    ratings: Ratings | Matrix,
    categories: Categories | None,
    of: Hashable,
    clusters: Clusters | None,
) -> tuple[Ratings, int]:
    """Return the ratings, and the position of the requested category."""
    table = as_ratings(ratings, categories, clusters)
    if table.known.shape[1] != 2:
        raise ValueError(
            f"prevalence and bias are defined for two raters, not {table.known.shape[1]}"
        )
    if of is None:
        if len(table.categories) > 2:
            raise ValueError("of is missing: name a category, because the scale has more than two")
        return table, len(table.categories) - 1
    if of not in table.categories:
        raise ValueError(f"the category {of!r} is not on the scale")
    return table, table.categories.index(of)


def _specific_terms(at: int) -> Callable[[npt.NDArray[np.int64]], FloatArray]:
    def terms(rows: npt.NDArray[np.int64]) -> FloatArray:
        chose = rows[:, at]
        return np.column_stack([chose, chose * (chose - 1) / (rows.sum(axis=1) - 1)])

    return terms


def _share(sums: Array) -> Array:
    return quotient(sums[:, 1], sums[:, 0])


def _against_the_rest(at: int) -> Callable[[npt.NDArray[np.int64]], FloatArray]:
    def terms(rows: npt.NDArray[np.int64]) -> FloatArray:
        chose, judges = rows[:, at], rows.sum(axis=1)
        apart = 2 * chose * (judges - chose) / (judges * (judges - 1))
        return np.column_stack([np.ones(len(rows)), apart, chose / judges])

    return terms


def _fleiss_of_two(sums: Array) -> Array:
    share = sums[:, 2] / sums[:, 0]
    return corrected(sums[:, 1] / sums[:, 0], 2 * share * (1 - share))
