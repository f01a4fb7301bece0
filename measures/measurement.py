"""The result of a measure: a value or the reason why there is none, made from values of queries."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .intervals import RESAMPLES, Bootstrap, Interval, IntervalKind, ratio_of_sums


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
