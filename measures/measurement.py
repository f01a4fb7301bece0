"""The result of a measure: a value or the reason why there is none, made from values of queries,
with a bootstrap interval. The only module that imports from ``agreement``.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from agreement.bootstrap import FEWEST_RESAMPLES, MOST_PATTERNS, IntervalEstimate, compute_interval
from agreement.coefficient import Interval
from agreement.counting import Patterns
from agreement.statistic import FloatArray, Statistic, quotient

__all__ = [
    "RESAMPLES",
    "Bootstrap",
    "CannotMeasure",
    "Interval",
    "IntervalKind",
    "Measurement",
    "cluster_of",
    "clustered",
    "ratio_of_sums",
    "summarise",
]

IntervalKind: TypeAlias = Literal["bootstrap", "bca"] | None
KINDS = ("bootstrap", "bca")
RESAMPLES = 1_000


class CannotMeasure(ValueError):
    """A wrong call, or data that cannot be measured; the message is a sentence for people."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One value of a measure, with everything needed to report it.

    It is never nan or infinite: if the data allow no value, ``value`` is None and ``reason`` is a
    sentence that begins with "undefined: ".

    Attributes:
        name: Name of the measure, such as "p-MRR".
        value: Mean over queries, unless the measure defines it otherwise; None if undefined.
        by_query: Value of each query the measure applies to; None for a query that is left out.
        n: Number of queries that count in the value.
        reason: Why there is no value; "" if there is one.
        interval: 95% interval over queries; None if none was requested or none exists.
        interval_note: How the interval was made, or why there is none; "" if none was requested.
        options: Every option of the call that affects the value.
        warnings: Sentences about the input that readers of the value need.
        terms: Numerator and denominator of each query that counts. The value is the sum of the
            numerators over the sum of the denominators.
    """

    name: str
    value: float | None
    by_query: Mapping[str, float | None]
    n: int
    reason: str = ""
    interval: Interval | None = None
    interval_note: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    terms: Mapping[str, tuple[float, float]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if self.value is None:
            if not self.reason.startswith("undefined: "):
                raise ValueError("a measurement without a value needs a reason")
            if self.interval is not None:
                raise ValueError("a measurement without a value has no interval")
        elif not math.isfinite(self.value):
            raise ValueError(f"{self.value} is not a value; undefined is None with a reason")

    def __str__(self) -> str:
        queries = f"({self.n:,} {'query' if self.n == 1 else 'queries'})"
        if self.value is None:
            return f"{self.name}: {self.reason} {queries}"
        shown = f"{self.name} {self.value:.4f}"
        if self.interval is not None:
            shown += f" [{self.interval.low:.4f}, {self.interval.high:.4f}]"
        return f"{shown} {queries}"


def summarise(
    name: str,
    by_query: Mapping[str, float | None],
    *,
    bootstrap: Bootstrap,
    options: Mapping[str, Any],
    warnings: Iterable[str],
    undefined: str,
    terms: Mapping[str, tuple[float, float]] | None = None,
) -> Measurement:
    """Average over the queries that have a value.

    Args:
        name: Name of the measure.
        by_query: Value of each query; None if it is left out.
        bootstrap: How to make the interval.
        options: The options that decide the value.
        warnings: Sentences about the input.
        undefined: Why there is no value, if no query has one.
        terms: Numerator and denominator of each query, if the value is pooled instead.
    """
    defined = {query: value for query, value in by_query.items() if value is not None}
    if terms is None:
        terms = {query: (value, 1.0) for query, value in defined.items()}
    value, estimated = ratio_of_sums([terms[query] for query in defined], bootstrap)
    options = {**options, "interval": bootstrap.kind}
    if bootstrap.kind is not None:
        options |= {"resamples": bootstrap.resamples, "seed": bootstrap.seed}
    lost = len(by_query) - len(defined)
    sentences = [warning for warning in warnings if warning]
    if lost:
        sentences.append(f"computed on {len(defined):,} of {len(by_query):,} queries")
    return Measurement(
        name=name,
        value=value,
        by_query=by_query,
        n=len(defined),
        reason=f"undefined: {undefined}" if value is None else "",
        interval=estimated.interval,
        interval_note=estimated.note,
        options=options,
        warnings=tuple(sentences),
        terms={query: terms[query] for query in defined},
    )


def clustered(
    measurement: Measurement,
    clusters: Mapping[str, Hashable],
    *,
    interval: IntervalKind = "bootstrap",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Measurement:
    """Return the measurement with an interval over clusters of queries instead of queries.

    Instructions that share one core query are not independent draws: each resample takes whole
    clusters. The value does not change.

    Args:
        measurement: The result of a measure.
        clusters: Cluster of each query, such as the core query of an instruction; a query without
            one is a separate cluster.
        interval: "bootstrap" or "bca" for a 95% interval over clusters.
        resamples: Number of resamples.
        seed: Seed of the bootstrap.

    Queries a and b share a core query: there is one cluster, and nothing to resample.

    >>> from measures import robustness
    >>> both = robustness({"a": 0.8, "b": 0.2}, {"a": "a", "b": "b"})
    >>> clustered(both, {"a": "core", "b": "core"}).interval_note
    'no interval: resampling needs at least two clusters'
    """
    bootstrap = Bootstrap(interval, resamples, seed)
    queries = list(measurement.terms)
    _value, estimated = ratio_of_sums(
        [measurement.terms[query] for query in queries],
        bootstrap,
        [cluster_of(query, clusters) for query in queries],
    )
    return replace(
        measurement,
        interval=estimated.interval,
        interval_note=estimated.note,
        options={
            **measurement.options,
            "interval": interval,
            "clusters": True,
            **({"resamples": resamples, "seed": seed} if interval else {}),
        },
    )


def cluster_of(query: str, clusters: Mapping[str, Hashable]) -> Hashable:
    """Return the cluster of a query; a query without one is a separate cluster."""
    return query in clusters, clusters.get(query, query)


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
