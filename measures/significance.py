"""Two systems on the same queries: difference with interval, tests, and Holm's adjustment.

The sign test and the Wilcoxon test are left out: on thousands of topics they reject a true null
hypothesis more often than their level, while paired t, randomization and bootstrap do not
(arXiv 2305.02461).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from .measurement import (
    RESAMPLES,
    Bootstrap,
    CannotMeasure,
    Interval,
    IntervalKind,
    Measurement,
    cluster_of,
    ratio_of_sums,
)
from .runs import check_choice, count_queries, list_ids, mean

Test: TypeAlias = Literal["t", "randomization"]
ByQuery: TypeAlias = Measurement | Mapping[str, float | None]
# The numerator and the denominator of a query.
Terms: TypeAlias = tuple[float, float]

PERMUTATIONS = 10_000
# Up to this many queries, every assignment of signs is counted instead of drawn.
_MOST_EXACT = 13
_STEPS = 20_000
# How many numbers are in memory at a time.
_NUMBERS_AT_A_TIME = 2_000_000
# How many numbers are kept for the next comparison: 32 MB of them.
_NUMBERS_CACHED = 4_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The difference of two systems on the queries for which both have a value.

    Attributes:
        difference: Mean of first minus second, or pooled as the two values; None if undefined.
        interval: 95% bootstrap interval of the difference over queries; or None.
        interval_note: How the interval was made, or why there is none.
        n: Number of queries in common.
        test: "t" or "randomization".
        statistic: t of the paired test; None for randomization.
        p: Two-sided p-value; None if undefined.
        reason: Why there is no difference or no p; or "".
        warnings: Sentences about the input.
    """

    difference: float | None
    interval: Interval | None
    interval_note: str
    n: int
    test: str
    statistic: float | None
    p: float | None
    reason: str = ""
    warnings: tuple[str, ...] = ()


def compare(
    first: ByQuery,
    second: ByQuery,
    *,
    test: Test = "randomization",
    permutations: int = PERMUTATIONS,
    clusters: Mapping[str, Hashable] | None = None,
    interval: IntervalKind = "bootstrap",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Comparison:
    """Compare two systems by the mean of their differences by query.

    Of two measurements that pool the same counts of each query, such as NFR, the difference is that
    of their values: d is then the difference of a query's counts, and only the reported difference
    and its interval are divided by the sum of the counts.

    With d the n differences, m their mean and s their standard deviation:

    - "t": t = m / (s / sqrt(n)), two-sided against Student's t with n - 1 degrees of freedom.
    - "randomization": the share of assignments of signs to d whose mean is at least as far from 0
      as m. Up to 13 queries, all 2^n of them; for more, ``permutations`` are drawn, and the
      observed one counts among them: (1 + count) / (1 + permutations).

    Args:
        first: A measurement, or values by query.
        second: The same for the baseline.
        test: "randomization" or "t".
        permutations: Number of assignments of signs to draw.
        clusters: Cluster of each query, such as the core query that instructions share: resamples
            take whole clusters, and the differences of a cluster have one sign. Not for "t".
        interval: "bootstrap" or "bca" for a 95% interval of the difference, or None.
        resamples: Number of resamples of the bootstrap.
        seed: Seed of the bootstrap and of the randomization.

    Queries for which only one of the two has a value are left out with a warning.

    Raises:
        ValueError: an unknown option, no permutation, the t test with clusters, or two
            measurements of different measures.

    Differences 1, 1, 1: of the eight assignments of signs, two are as far from 0.

    >>> compare({"q": 1, "r": 1, "s": 1}, {"q": 0, "r": 0, "s": 0}).p
    0.25

    Differences 1, 2, 3: m = 2, s = 1, t = 2 sqrt(3).

    >>> result = compare({"q": 1, "r": 2, "s": 3}, {"q": 0, "r": 0, "s": 0}, test="t")
    >>> round(result.statistic, 4), round(result.p, 4)
    (3.4641, 0.0742)
    """
    check_choice("test", test, Test)
    if permutations < 1:
        raise CannotMeasure(f"{permutations} permutations are too few; give 1 or more")
    if clusters is not None and test == "t":
        raise CannotMeasure(
            "the t test treats queries as independent; with clusters, use randomization"
        )
    if isinstance(first, Measurement) and isinstance(second, Measurement):
        _check_same_measure(first, second)
    first_terms, second_terms = _terms_by_query(first), _terms_by_query(second)
    shared = sorted(first_terms.keys() & second_terms.keys())
    terms = _differences_of_terms([(first_terms[query], second_terms[query]) for query in shared])
    differences = np.array([numerator for numerator, _ in terms], dtype=np.float64)
    bootstrap = Bootstrap(interval, resamples, seed)
    of_clusters = None if clusters is None else [cluster_of(query, clusters) for query in shared]
    difference, estimated = ratio_of_sums(terms, bootstrap, of_clusters)
    statistic = p = None
    reason = ""
    if difference is None:
        reason = "undefined: the two systems have no query in common"
    elif test == "randomization":
        p = _randomization_p(_sum_by_cluster(differences, of_clusters), permutations, seed)
    elif len(shared) == 1:
        reason = "undefined: the t test needs at least two queries"
    elif np.ptp(differences) == 0:
        reason = "undefined: the differences do not vary, so there is no t"
    else:
        deviation = float(differences.std(ddof=1))
        statistic = mean(differences.tolist()) / (deviation / math.sqrt(len(shared)))
        p = min(1.0, 2 * upper_tail(abs(statistic), len(shared) - 1))
    unshared = first_terms.keys() ^ second_terms.keys()
    warnings = []
    if unshared:
        counted = count_queries(len(unshared))
        warnings.append(f"{counted} with a value of one system only ({list_ids(unshared)})")
    return Comparison(
        difference=difference,
        interval=estimated.interval,
        interval_note=estimated.note,
        n=len(shared),
        test=test,
        statistic=statistic,
        p=p,
        reason=reason,
        warnings=tuple(warnings),
    )


def holm(p_values: Mapping[str, float | None]) -> dict[str, float | None]:
    """Adjust p-values of several comparisons (Holm 1979, Scandinavian Journal of Statistics 6).

    With the p-values in ascending order, the i-th of m is multiplied by m - i + 1, then raised to
    the one before if it is lower, and limited to 1. A comparison without p is not counted and
    remains without.

    Raises:
        ValueError: a p-value that is not between 0 and 1.

    0.01 x 3 = 0.03; 0.03 x 2 = 0.06; 0.04 x 1 is below that, so 0.06.

    >>> holm({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'b': 0.06, 'c': 0.06}
    """
    defined = {name: p for name, p in p_values.items() if p is not None}
    for name, p in defined.items():
        if not 0 <= p <= 1:
            raise CannotMeasure(f"the p-value of {name} is {p}; it is between 0 and 1")
    adjusted: dict[str, float | None] = dict.fromkeys(p_values)
    least = 0.0
    for place, name in enumerate(sorted(defined, key=defined.__getitem__)):
        least = max(least, min(1.0, defined[name] * (len(defined) - place)))
        adjusted[name] = least
    return adjusted


def upper_tail(t: float, degrees: int) -> float:
    """Return the probability that Student's t exceeds ``t``.

    It is computed by Simpson's rule after t = sqrt(degrees) tan u.

    >>> round(upper_tail(12.706, 1), 4), round(upper_tail(2.228, 10), 4), upper_tail(0, 5)
    (0.025, 0.025, 0.5)
    """
    if not t:
        return 0.5
    constant = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2))
    constant /= math.sqrt(math.pi)
    weights = np.ones(_STEPS + 1)
    weights[1:-1:2], weights[2:-1:2] = 4, 2
    at, step = np.linspace(math.atan(t / math.sqrt(degrees)), math.pi / 2, _STEPS + 1, retstep=True)
    return float(constant * (np.cos(at).clip(min=0) ** (degrees - 1) @ weights) * step / 3)


def _terms_by_query(of: ByQuery) -> Mapping[str, Terms]:
    """Return the numerator and denominator of each query that has a value."""
    if isinstance(of, Measurement):
        return of.terms
    return {query: (float(value), 1.0) for query, value in of.items() if value is not None}


def _differences_of_terms(pairs: Sequence[tuple[Terms, Terms]]) -> list[Terms]:
    """Return the terms of the difference of two systems; of their values by query, if the two count
    another number in a query.
    """
    if all(first[1] == second[1] for first, second in pairs):
        return [(first[0] - second[0], first[1]) for first, second in pairs]
    return [(first[0] / first[1] - second[0] / second[1], 1.0) for first, second in pairs]


def _check_same_measure(first: Measurement, second: Measurement) -> None:
    if first.name != second.name:
        raise CannotMeasure(f"{first.name} and {second.name} are different measures; compare one")


def _sum_by_cluster(
    differences: npt.NDArray[np.float64], clusters: list[Hashable] | None
) -> npt.NDArray[np.float64]:
    """Return the sum of the differences of each cluster; without clusters, the differences."""
    if clusters is None:
        return differences
    of_cluster: dict[Hashable, list[float]] = {}
    for cluster, difference in zip(clusters, differences.tolist(), strict=True):
        of_cluster.setdefault(cluster, []).append(difference)
    return np.array([math.fsum(its) for its in of_cluster.values()])


def _randomization_p(differences: npt.NDArray[np.float64], permutations: int, seed: int) -> float:
    size = len(differences)
    # Sums that differ from the observed one only by rounding count as equally far from 0.
    bound = abs(math.fsum(differences)) - 1e-9 * float(np.abs(differences).sum())
    if size <= _MOST_EXACT:
        bits = np.arange(2**size)[:, np.newaxis] >> np.arange(size) & 1
        return float((np.abs((1 - 2 * bits) @ differences) >= bound).mean())
    as_far = sum(
        int(np.count_nonzero(np.abs(signs @ differences) >= bound))
        for signs in _signs(size, permutations, seed)
    )
    return (1 + as_far) / (1 + permutations)


def _signs(size: int, permutations: int, seed: int) -> Iterable[npt.NDArray[np.float64]]:
    """Return assignments of signs in portions; small ones are cached for as many queries."""
    if size * permutations <= _NUMBERS_CACHED:
        return _cached_signs(size, permutations, seed)
    return _draw_signs(size, permutations, seed)


@lru_cache(maxsize=2)
def _cached_signs(size: int, permutations: int, seed: int) -> tuple[npt.NDArray[np.float64], ...]:
    return tuple(_draw_signs(size, permutations, seed))


def _draw_signs(size: int, permutations: int, seed: int) -> Iterator[npt.NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    at_a_time = max(1, _NUMBERS_AT_A_TIME // size)
    for start in range(0, permutations, at_a_time):
        count = min(at_a_time, permutations - start)
        negative = rng.integers(0, 2, (count, size), dtype=np.int8)
        yield np.asarray(1 - 2 * negative, dtype=np.float64)
