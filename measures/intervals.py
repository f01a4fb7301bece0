"""Means over queries with bootstrap intervals. The only module that imports from ``agreement``."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from agreement.bootstrap import FEWEST_RESAMPLES, MOST_PATTERNS, IntervalEstimate, compute_interval
from agreement.coefficient import Interval
from agreement.counting import Patterns
from agreement.statistic import FloatArray, Statistic, quotient

from .errors import CannotMeasure

__all__ = [
    "RESAMPLES",
    "Bootstrap",
    "Interval",
    "IntervalKind",
    "ratio_of_sums",
]

IntervalKind: TypeAlias = Literal["bootstrap", "bca"] | None
KINDS = ("bootstrap", "bca")
RESAMPLES = 1_000


class Bootstrap(NamedTuple):
    """How the interval of a measurement is made.

    Attributes:
        kind: "bootstrap" for percentiles, "bca" for percentiles corrected for bias and
            acceleration, None for no interval.
        resamples: Number of resamples of the queries.
        seed: Seed of numpy's default_rng.
    """

    kind: IntervalKind = "bootstrap"
    resamples: int = RESAMPLES
    seed: int = 0

    def check(self) -> None:
        """Raise ValueError for an unknown kind or too few resamples."""
        if self.kind is not None and self.kind not in KINDS:
            kinds = " or ".join(map(repr, KINDS))
            raise CannotMeasure(f"interval is {kinds} or None, not {self.kind!r}")
        if self.resamples < FEWEST_RESAMPLES:
            raise CannotMeasure(
                f"{self.resamples} resamples are too few for a 95% interval; "
                f"take {FEWEST_RESAMPLES} or more"
            )


def ratio_of_sums(
    terms: Iterable[tuple[float, float]],
    bootstrap: Bootstrap,
    clusters: Sequence[Hashable] | None = None,
) -> tuple[float | None, IntervalEstimate]:
    """Return the sum of numerators over the sum of denominators, and its interval over queries.

    With every denominator 1 this is the mean. The order of queries does not matter: the sums are
    exact, and the bootstrap works on the terms in ascending order.

    Args:
        terms: Numerator and denominator of each query.
        bootstrap: How to make the interval.
        clusters: Cluster of each query: whole clusters are drawn. None: queries are drawn.

    >>> ratio_of_sums([(1.0, 1.0), (0.0, 1.0)], Bootstrap(kind=None))[0]
    0.5
    """
    bootstrap.check()
    pairs = list(terms)
    below = math.fsum(denominator for _, denominator in pairs)
    if not below:
        return None, IntervalEstimate(None, "")
    value = math.fsum(numerator for numerator, _ in pairs) / below
    if bootstrap.kind is None:
        return value, IntervalEstimate(None, "")
    numbers = None
    if clusters is None:
        rows, times = _sort_terms(np.asarray(pairs, dtype=np.float64))
    else:
        number_of = {cluster: number for number, cluster in enumerate(dict.fromkeys(clusters))}
        numbers = np.array([number_of[cluster] for cluster in clusters], dtype=np.int64)
        rows, times = np.asarray(pairs, dtype=np.float64), np.ones(len(pairs), dtype=np.int64)
    statistic = Statistic(
        patterns=lambda: Patterns(rows, times, numbers),  # type: ignore[arg-type]  # rows are terms already
        terms=_as_terms,
        value=lambda sums: quotient(sums[:, 0], sums[:, 1]),
    )
    uncertainty = compute_interval(
        statistic, method=bootstrap.kind, resamples=bootstrap.resamples, seed=bootstrap.seed
    )
    return value, uncertainty._replace(note=uncertainty.note.replace("units", "queries"))


def _sort_terms(pairs: FloatArray) -> tuple[FloatArray, npt.NDArray[np.int64]]:
    """Return terms in ascending order and how often each occurs.

    Unless there are too many, equal terms are listed separately, so that measures with the same
    number of queries share their draws.
    """
    if len(pairs) > MOST_PATTERNS:
        rows, times = np.unique(pairs, axis=0, return_counts=True)
        return rows, times
    return pairs[np.lexsort(pairs.T[::-1])], np.ones(len(pairs), dtype=np.int64)


def _as_terms(rows: npt.NDArray[Any]) -> FloatArray:
    return np.asarray(rows, dtype=np.float64)
