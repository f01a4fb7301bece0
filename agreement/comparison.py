"""The difference of two agreements, with its interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .bootstrap import (
    CONFIDENCE,
    METHODS,
    IntervalEstimate,
    IntervalMethod,
    Resampler,
    percentile_interval,
)
from .coefficient import Coefficient, Interval
from .counting import counts_of, tally
from .estimate import Probe, as_ratings, choose_method
from .ratings import Ratings
from .scales import Categories, Matrix
from .statistic import FloatArray, SparseTerms, Statistic
from .student_t import quantile


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How much higher the first of two agreements is than the second.

    Attributes:
        name: What was compared.
        value: First minus second; None if either is undefined.
        note: The reason why there is no value, which begins with "undefined:"; or "".
        interval: The 95% interval; None if none was requested or possible.
        interval_note: How it was made, or why there is none; "" if none was requested.
        first: The first agreement, with its own interval.
        second: The second agreement.
        paired: How many units both have; 0 if the two were treated as independent.
        standard_error: From the linearised variance, if an interval was requested.
        seed: Seed of the bootstrap; None without one.
        resamples: Number of resamples drawn; None without any.
    """

    name: str
    value: float | None
    note: str
    interval: Interval | None
    interval_note: str
    first: Coefficient
    second: Coefficient
    paired: int
    standard_error: float | None = None
    seed: int | None = None
    resamples: int | None = None


def compare(
    first: Ratings | Matrix,
    second: Ratings | Matrix,
    *,
    coefficient: Callable[..., Coefficient],
    categories: Categories | None = None,
    units: tuple[Sequence[Hashable], Sequence[Hashable]] | None = None,
    interval: IntervalMethod = "bootstrap",
    seed: int = 0,
    resamples: int = 10_000,
    **options: Any,
) -> Difference:
    """Return the difference of two agreements: before and after, or of two kinds of units.

    It is paired if units are shared, so that a unit that is hard in both does not count as a
    difference. Units are shared if they have the same name in ``Ratings.labels`` (or ``units``). If
    both have clusters, clusters are drawn, each with all its units in both. Otherwise the two are
    drawn separately, each at its own size.

    Args:
        first: Matrix of units x raters, nan for missing; or ``Ratings``.
        second: Likewise; the raters need not be the same.
        coefficient: A coefficient of this package, such as ``cohen_kappa``.
        categories: The scale of matrices, for both.
        units: The names of the units of each, one per row, if ratings have no labels.
        interval: "bootstrap" (over units, or clusters), "bca", "auto" for "bca" if either is
            skewed and "bootstrap" otherwise, "analytic" or None; for the difference and both
            agreements.
        seed: Seed of the bootstrap.
        resamples: Number of resamples.
        **options: Other arguments of the coefficient, such as weights or level.

    Raises:
        ValueError: as raised by the coefficient; units that are not one name per row; paired
            ratings whose rows stand for several units.

    >>> from agreement import percent_agreement
    >>> before = [[0, 0], [0, 1], [1, 0], [1, 1]] * 25
    >>> after = [[0, 0], [0, 1], [1, 1], [1, 1]] * 25
    >>> compare(after, before, coefficient=percent_agreement, categories=[0, 1],
    ...     units=(range(100), range(100))).value
    0.25
    """
    first_ratings, second_ratings = as_ratings(first, categories), as_ratings(second, categories)
    interval = choose_method(interval, first_ratings, second_ratings)
    how = {"interval": interval, "seed": seed, "resamples": resamples}
    agreements = (
        coefficient(first_ratings, **options, **how),
        coefficient(second_ratings, **options, **how),
    )
    statistics = (
        _statistic(coefficient, first_ratings, options),
        _statistic(coefficient, second_ratings, options),
    )
    labels = units or (first_ratings.labels, second_ratings.labels)
    _check_labels((first_ratings, second_ratings), units)
    paired = _count_paired((first_ratings, second_ratings), labels)
    shared_clusters = set(first_ratings.cluster_names) & set(second_ratings.cluster_names)
    joint = bool(paired or shared_clusters)
    values = agreements[0].value, agreements[1].value
    value: float | None = None
    estimated = IntervalEstimate(None, "")
    if values[0] is None or values[1] is None:
        which = "first" if values[0] is None else "second"
        note = f"undefined: the {which} agreement is undefined"
    else:
        value, note = values[0] - values[1], ""
        if interval is not None:
            sources = (
                [
                    Resampler.of(
                        _join_statistics((first_ratings, second_ratings), statistics, labels)
                    )
                ]
                if joint
                else [Resampler.of(statistic) for statistic in statistics]
            )
            estimated = _estimate_interval(sources, value, interval, seed, resamples)
    is_resampled = value is not None and interval in METHODS[:2]
    return Difference(
        name=f"difference of {agreements[0].name}",
        value=value,
        note=note,
        interval=estimated.interval,
        interval_note=estimated.note,
        first=agreements[0],
        second=agreements[1],
        paired=paired,
        standard_error=estimated.error,
        seed=seed if is_resampled else None,
        resamples=resamples if is_resampled else None,
    )


def _statistic(
    coefficient: Callable[..., Coefficient], table: Ratings, options: dict[str, Any]
) -> Statistic:
    probe = Probe()
    coefficient(table, **options, interval=probe)
    if probe.statistic is None:
        raise ValueError("only coefficients of this package can be compared")
    return probe.statistic


def _check_labels(
    tables: tuple[Ratings, Ratings],
    units: tuple[Sequence[Hashable], Sequence[Hashable]] | None,
) -> None:
    if units is None:
        return
    for table, names in zip(tables, units, strict=True):
        rows = _rows(table)[0].shape[0]
        if len(names) != rows or len(set(names)) != rows:
            raise ValueError(f"units are one name per row: {rows} different names")


def _count_paired(
    tables: tuple[Ratings, Ratings], labels: Sequence[Sequence[Hashable] | None]
) -> int:
    """Return how many units occur in both."""
    if labels[0] is None or labels[1] is None:
        return 0
    shared = len(set(labels[0]) & set(labels[1]))
    if shared and any(table.times is not None for table in tables):
        raise ValueError("paired units need one row each; these rows stand for several")
    return shared


def _rows(table: Ratings) -> tuple[npt.NDArray[Any], int]:
    """Return the rows, as digits or counts, and a number above all their numbers."""
    if table.digits is not None:
        return table.digits, len(table.categories) + 1
    if table.table is None:
        raise ValueError("ratings without rows")
    return table.table, int(table.table.max(initial=0)) + 1


def _join_statistics(
    tables: tuple[Ratings, Ratings],
    statistics: tuple[Statistic, Statistic],
    labels: Sequence[Sequence[Hashable] | None],
) -> Statistic:
    """Return the difference as one statistic of units that are in either table or in both."""
    rows = [_rows(table) for table in tables]
    widths = [table.shape[1] for table, _ in rows]
    numbers = [np.arange(len(rows[0][0])), np.arange(len(rows[1][0])) + len(rows[0][0])]
    if labels[0] is not None and labels[1] is not None:
        row_of_label = {label: at for at, label in enumerate(labels[0])}
        fresh = len(row_of_label)
        for row, label in enumerate(labels[1]):
            numbers[1][row] = row_of_label.get(label, fresh)
            fresh += label not in row_of_label
    count = int(max((part.max(initial=-1) for part in numbers), default=-1)) + 1
    wide = np.zeros((count, sum(widths)), dtype=np.int64)
    wide[numbers[0], : widths[0]] = rows[0][0]
    wide[numbers[1], widths[0] :] = rows[1][0]
    times = np.ones(count, dtype=np.int64)
    for table, at in zip(tables, numbers, strict=True):
        if table.times is not None:
            times[at] = table.times
    patterns = tally(wide, max(base for _, base in rows), times, _clusters(tables, numbers, count))
    judged = _rows_that_count(
        patterns.rows[:, : widths[0]], tables[0], statistics[0].fewest
    ) | _rows_that_count(patterns.rows[:, widths[0] :], tables[1], statistics[1].fewest)
    patterns = patterns.where(judged)
    split = len(statistics[0].totals())

    def terms(joined: npt.NDArray[np.int64]) -> FloatArray:
        return np.hstack(
            [
                _terms(joined[:, : widths[0]], tables[0], statistics[0]),
                _terms(joined[:, widths[0] :], tables[1], statistics[1]),
            ]
        )

    def value(sums: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.asarray(
            statistics[0].value(sums[:, :split]) - statistics[1].value(sums[:, split:])
        )

    def sparse(joined: npt.NDArray[np.int64]) -> SparseTerms:
        first = _sparse_terms(joined[:, : widths[0]], tables[0], statistics[0])
        second = _sparse_terms(joined[:, widths[0] :], tables[1], statistics[1])
        return SparseTerms(
            (len(joined), first.shape[1] + second.shape[1]),
            np.concatenate([first.rows, second.rows]),
            np.concatenate([first.columns, second.columns + split]),
            np.concatenate([first.terms, second.terms]),
        )

    def derivative(sums: FloatArray) -> FloatArray:
        first, second = statistics
        return np.concatenate([first.gradient(sums[:split]), -second.gradient(sums[split:])])

    return Statistic(
        lambda: patterns,
        terms,
        value,
        sums=np.concatenate([statistic.totals() for statistic in statistics]),
        lost=statistics[0].lost,
        sparse=None if statistics[0].sparse is None else sparse,
        derivative=derivative,
    )


def _clusters(
    tables: tuple[Ratings, Ratings], numbers: list[npt.NDArray[np.int64]], count: int
) -> npt.NDArray[np.int64] | None:
    """Return the clusters of all units if both have them; clusters with one name are joined."""
    if any(table.clusters is None for table in tables):
        return None
    number_of_name: dict[Hashable, int] = {}
    numbered = np.empty(count, dtype=np.int64)
    for table, at in zip(tables, numbers, strict=True):
        codes = [
            number_of_name.setdefault(name, len(number_of_name)) for name in table.cluster_names
        ]
        numbered[at] = np.array(codes, dtype=np.int64)[table.clusters]
    return numbered


def _rows_that_count(
    rows: npt.NDArray[np.int64], table: Ratings, fewest: int
) -> npt.NDArray[np.bool_]:
    """Return whether enough raters of the table judged such units, shape (P,)."""
    judges = (rows > 0).sum(axis=1) if table.digits is not None else rows.sum(axis=1)
    return np.asarray(judges >= fewest)


def _terms(rows: npt.NDArray[np.int64], table: Ratings, statistic: Statistic) -> FloatArray:
    """Return the terms of one table's statistic, 0 for units that it lacks."""
    judged = _rows_that_count(rows, table, statistic.fewest)
    judgments = rows[judged]
    if table.digits is not None:
        judgments = (
            counts_of(judgments, len(table.categories)) if statistic.of_counts else judgments - 1
        )
    terms = np.zeros((len(rows), len(statistic.totals())))
    terms[judged] = statistic.terms(judgments)
    return terms


def _sparse_terms(rows: npt.NDArray[np.int64], table: Ratings, statistic: Statistic) -> SparseTerms:
    """Return the same as ``_terms`` of a statistic that has sparse terms."""
    if statistic.sparse is None:
        raise ValueError("a statistic without sparse terms")
    judged = np.flatnonzero(_rows_that_count(rows, table, statistic.fewest))
    of_judged = statistic.sparse(rows[judged] - 1)
    return SparseTerms(
        (len(rows), of_judged.shape[1]), judged[of_judged.rows], of_judged.columns, of_judged.terms
    )


def _estimate_interval(
    sources: list[Resampler], value: float, interval: str, seed: int, resamples: int
) -> IntervalEstimate:
    for resampler in sources:
        if resampler.shortage:
            return IntervalEstimate(None, f"no interval: each agreement needs {resampler.shortage}")
    error = math.sqrt(sum(resampler.variance for resampler in sources))
    if interval == "analytic":
        size = min(resampler.size for resampler in sources)
        reach = quantile((1 + CONFIDENCE) / 2, size - 1) * error
        what = " and ".join(dict.fromkeys(resampler.what for resampler in sources))
        note = f"95% t interval from the linearised variance over {what}"
        return IntervalEstimate(Interval(value - reach, value + reach), note, error)
    streams = np.random.default_rng(seed).spawn(len(sources))
    resampled = [
        resampler.resample(resamples, stream)
        for resampler, stream in zip(sources, streams, strict=True)
    ]
    differences = resampled[0] - resampled[1] if len(resampled) > 1 else resampled[0]
    return percentile_interval(differences, value, sources, error, method=interval, seed=seed)
