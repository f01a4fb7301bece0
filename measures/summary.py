"""From values of queries to a Measurement: the part that all measures have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .intervals import Bootstrap, ratio_of_sums
from .measurement import Measurement


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
        by_query: Value of each query; None where it is left out.
        bootstrap: How to make the interval.
        options: The options that decide the value.
        warnings: Sentences about the input.
        undefined: Why there is no value, if no query has one.
        terms: Numerator and denominator of each query, where the value is pooled instead.
    """
    found = {query: value for query, value in by_query.items() if value is not None}
    if terms is None:
        terms = {query: (value, 1.0) for query, value in found.items()}
    value, estimated = ratio_of_sums([terms[query] for query in found], bootstrap)
    options = {**options, "interval": bootstrap.kind}
    if bootstrap.kind is not None:
        options |= {"resamples": bootstrap.resamples, "seed": bootstrap.seed}
    lost = len(by_query) - len(found)
    sentences = [warning for warning in warnings if warning]
    if lost:
        sentences.append(f"computed on {len(found):,} of {len(by_query):,} queries")
    return Measurement(
        name=name,
        value=value,
        by_query=by_query,
        n=len(found),
        reason=f"undefined: {undefined}" if value is None else "",
        interval=estimated.interval,
        interval_note=estimated.note,
        options=options,
        warnings=tuple(sentences),
    )
