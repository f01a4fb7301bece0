"""Ratings in any of three shapes, converted to one form that counts patterns of values.

Units with the same pattern of values are exchangeable for every coefficient of this package, so
all of them work on the distinct patterns and how often each occurs. After the counting, a million
units cost no more than a thousand.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .coefficient import Excluded
from .counting import (
    FEW_CELLS,
    FEW_CODES,
    Patterns,
    counts_of,
    presence,
    presence_of_two,
    table_of_two,
    tables_of_pairs,
    tally,
    value_counts,
)
from .row_arguments import (
    Clusters,
    as_whole_numbers,
    clusters_of_rows,
    clusters_of_units,
    distinct_names,
    times_of_rows,
)
from .scales import Categories, Matrix, as_column, as_scale, as_table, digits_of, resolve_scale

# The reason in ``Ratings.excluded`` for units with one rating.
ONE_RATER = "judged by one rater only"


class Cells(NamedTuple):
    """Rows of (unit, rater, value) as columns; the two ``at`` are positions in the two names."""

    units: tuple[Hashable, ...]
    raters: tuple[Hashable, ...]
    unit_at: npt.NDArray[np.int64]
    rater_at: npt.NDArray[np.int64]
    values: list[Hashable]


def cells_of_rows(rows: Iterable[tuple[Hashable, Hashable, Hashable]]) -> Cells:
    """Return the rows as columns; ValueError for a unit that one rater judged twice."""
    units: dict[Hashable, int] = {}
    raters: dict[Hashable, int] = {}
    of_unit: list[int] = []
    of_rater: list[int] = []
    values: list[Hashable] = []
    for unit, rater, value in rows:
        of_unit.append(units.setdefault(unit, len(units)))
        of_rater.append(raters.setdefault(rater, len(raters)))
        values.append(value)
    table = Cells(
        tuple(units),
        tuple(raters),
        np.array(of_unit, dtype=np.int64),
        np.array(of_rater, dtype=np.int64),
        values,
    )
    cells, times = np.unique(table.unit_at * len(raters) + table.rater_at, return_counts=True)
    if (times > 1).any():
        unit, rater = divmod(int(cells[times > 1][0]), len(raters))
        raise ValueError(
            f"the unit {table.units[unit]!r} was judged twice by the rater {table.raters[rater]!r}"
        )
    return table


@dataclass(frozen=True, eq=False)
class Ratings:
    """The ratings of units by raters on a given scale; made by one of the ``from_`` methods.

    Attributes:
        categories: The scale in its order. An unused category still belongs to it.
        ordered: Whether that order has a meaning. Only categories that were collected from
            non-numeric values have no meaningful order.
        digits: Shape (N, R), one row per unit: 0 if the rater did not judge it, else the
            position on the scale, counted from 1. None for a table of units x categories.
        table: Shape (N, K), how many raters chose each category; None if ``digits`` are known.
        times: Shape (N,), how many units each row stands for; None for one each.
        clusters: Shape (N,), which cluster each row belongs to, counted from 0; None for none.
        names: The names of the raters, in the order of the columns; None if unknown.
        labels: The name of the unit of each row; None if unknown.
        cluster_names: The names of the clusters, in the order of their numbers.
    """

    categories: tuple[Hashable, ...]
    ordered: bool
    digits: npt.NDArray[np.unsignedinteger[Any]] | None
    table: npt.NDArray[np.int64] | None = None
    times: npt.NDArray[np.int64] | None = None
    clusters: npt.NDArray[np.int64] | None = None
    names: tuple[Hashable, ...] | None = None
    labels: tuple[Hashable, ...] | None = None
    cluster_names: tuple[Hashable, ...] = ()

    @classmethod
    def from_matrix(
        cls,
        values: Matrix,
        *,
        categories: Categories,
        times: npt.ArrayLike | None = None,
        clusters: Clusters | None = None,
        raters: Sequence[Hashable] | None = None,
        units: Sequence[Hashable] | None = None,
    ) -> Ratings:
        """Return ratings from a matrix of units x raters, nan (or None) for no judgment.

        Args:
            values: Shape (N, R), numbers or any hashable labels.
            categories: The scale in its order, or "seen" for the values that occur.
            times: Shape (N,), how many units each row stands for; by default one each.
            clusters: Shape (N,), the cluster of each unit, such as its query; required for
                intervals over clusters.
            raters: Shape (R,), the names of the raters.
            units: Shape (N,), the names of the units, which `compare` uses to pair two tables.

        Raises:
            ValueError: not a matrix, a value that is not on the scale, an invalid scale, or
                times, clusters, raters or units that are not one per row or column.
        """
        table = as_table(values, "ratings", "units x raters")
        scale, ordered = resolve_scale(categories, table)
        of_rows, cluster_names = clusters_of_rows(clusters, len(table))
        ratings = cls(
            scale,
            ordered,
            digits_of(table, scale),
            times=times_of_rows(times, len(table)),
            clusters=of_rows,
            names=distinct_names(raters, table.shape[1], "raters are one name per column"),
            labels=distinct_names(units, len(table), "units are one name per row"),
            cluster_names=cluster_names,
        )._without_empty_rows()
        return ratings.seen() if isinstance(categories, str) else ratings

    @classmethod
    def from_patterns(
        cls,
        patterns: Matrix,
        times: npt.ArrayLike,
        *,
        categories: Categories,
        clusters: Clusters | None = None,
        raters: Sequence[Hashable] | None = None,
    ) -> Ratings:
        """Return ratings counted elsewhere, such as in a database: patterns and their times.

        The result is the same as from a matrix that repeats each pattern as often as it occurs. A
        pattern may have several rows, for example if it occurs in several clusters.

        Args:
            patterns: Shape (P, R), the value of each rater, nan (or None) for none.
            times: Shape (P,), the number of units with the pattern; whole numbers of 0 or more.
            categories: The scale in its order, or "seen" for the values that occur.
            clusters: Shape (P,), the cluster of the units of each row, such as their query.
            raters: Shape (R,), the names of the raters.

        Raises:
            ValueError: like ``from_matrix``.

        >>> Ratings.from_patterns([[0, 0], [1, 1], [0, 1]], [40, 50, 10], categories=[0, 1]).units
        100
        """
        return cls.from_matrix(
            patterns, categories=categories, times=times, clusters=clusters, raters=raters
        )

    @classmethod
    def from_long(
        cls,
        rows: Iterable[tuple[Hashable, Hashable, Hashable]],
        *,
        categories: Categories,
        clusters: Mapping[Any, Hashable] | None = None,
    ) -> Ratings:
        """Return ratings from rows of (unit, rater, value), in any order; nan or None: no judgment.

        Args:
            rows: (unit, rater, value); the raters' names are kept.
            categories: The scale in its order, or "seen" for the values that occur.
            clusters: The cluster of every unit, such as its query.

        Raises:
            ValueError: a unit that one rater judged twice, a value that is not on the scale, an
                invalid scale, or a unit without a cluster if clusters are given.
        """
        cells = cells_of_rows(rows)
        column = as_column(cells.values)
        scale, ordered = resolve_scale(categories, column)
        encoded = digits_of(column, scale)[:, 0]
        digits = np.zeros((len(cells.units), len(cells.raters)), dtype=encoded.dtype)
        digits[cells.unit_at, cells.rater_at] = encoded
        of_units, cluster_names = clusters_of_units(cells.units, clusters)
        ratings = cls(
            scale,
            ordered,
            digits,
            clusters=of_units,
            names=cells.raters,
            labels=cells.units,
            cluster_names=cluster_names,
        )
        return ratings.seen() if isinstance(categories, str) else ratings

    @classmethod
    def from_counts(
        cls,
        table: npt.ArrayLike,
        *,
        categories: Categories,
        times: npt.ArrayLike | None = None,
        clusters: Clusters | None = None,
        units: Sequence[Hashable] | None = None,
    ) -> Ratings:
        """Return ratings from a table of units x categories: how many raters chose each.

        Such a table does not say who judged, so Cohen's kappa cannot be computed from it.

        Args:
            table: Shape (N, K), whole numbers of 0 or more.
            categories: The scale in its order, one per column.
            times: Shape (N,), how many units each row stands for; by default one each.
            clusters: Shape (N,), the cluster of each unit, such as its query.
            units: Shape (N,), the names of the units, which `compare` uses to pair two tables.

        Raises:
            ValueError: not a table, a number of columns other than the scale's, a count that is
                negative or not whole, or times or clusters that are not one per row.
        """
        counts = as_table(table, "the table of counts", "units x categories")
        if isinstance(categories, str):
            raise ValueError("a table of units x categories needs the scale: one name per column")
        scale = as_scale(categories)
        if counts.shape[1] != len(scale):
            raise ValueError(
                f"the table has {counts.shape[1]} columns, the scale has {len(scale)} categories"
            )
        of_rows, cluster_names = clusters_of_rows(clusters, len(counts))
        return cls(
            scale,
            True,
            None,
            table=as_whole_numbers(
                counts, "a count of raters", "a table of counts holds numbers of raters"
            ),
            times=times_of_rows(times, len(counts)),
            clusters=of_rows,
            labels=distinct_names(units, len(counts), "units are one name per row"),
            cluster_names=cluster_names,
        )._without_empty_rows()

    @cached_property
    def judged(self) -> Patterns:
        """Return one pattern per way in which raters judged a unit; ValueError if unknown.

        Rows (P, R) have the position on the scale, counted from 0, and -1 for no judgment.
        """
        patterns = tally(self.known, len(self.categories) + 1, self.times, self.clusters)
        return patterns._replace(rows=patterns.rows - 1)

    @cached_property
    def judged_together(self) -> Patterns:
        """Return the patterns of ``judged`` that at least two raters judged."""
        return self.judged.where((self.judged.rows >= 0).sum(axis=1) >= 2)

    @cached_property
    def counted(self) -> Patterns:
        """Return one pattern per distribution of raters over categories.

        Rows (P, K) have the number of raters who chose each category. Units with no rater or one
        are included.
        """
        if self.table is not None:
            base = int(self.table.max(initial=0)) + 1
            return tally(self.table, base, self.times, self.clusters)
        digits = self.known
        categories, raters = len(self.categories), digits.shape[1]
        if (categories + 1) ** raters <= FEW_CODES and (
            digits.size > FEW_CELLS or "judged" in self.__dict__
        ):
            judged = self.judged
            rows = counts_of(judged.rows + 1, categories)
            return tally(rows, raters + 1, judged.times, judged.clusters)
        return value_counts(digits, categories, self.times, self.clusters)

    @cached_property
    def shared(self) -> Patterns:
        """Return the patterns of ``counted`` that at least two raters judged."""
        return self.counted.where(self.counted.rows.sum(axis=1) >= 2)

    def with_ratings(self, fewest: int) -> Patterns:
        """Return the patterns of ``counted`` with at least ``fewest`` ratings."""
        if fewest == 2:
            return self.shared
        return self.counted.where(self.counted.rows.sum(axis=1) >= fewest)

    @cached_property
    def units(self) -> int:
        """Return how many units at least two raters judged."""
        return int(self._by_judges[2:].sum())

    @property
    def excluded(self) -> tuple[Excluded, ...]:
        """Return the number of units that fewer than two raters judged, by reason."""
        by_nobody, by_one, *_ = self._by_judges.tolist()
        entries = (Excluded(ONE_RATER, by_one), Excluded("judged by nobody", by_nobody))
        return tuple(entry for entry in entries if entry.units)

    @property
    def in_common(self) -> npt.NDArray[np.int64] | None:
        """Return how many units two raters both judged, (R, R), and each alone; or None."""
        return self._presence[0]

    @property
    def _by_judges(self) -> npt.NDArray[np.int64]:
        """Return how many units were judged by 0, 1, 2 ... raters; at least three numbers."""
        return self._presence[1]

    @cached_property
    def _of_two(self) -> npt.NDArray[np.int64] | None:
        """Return the ``table_of_two`` raters; None if there are not exactly two."""
        if self.digits is None:
            return None
        return table_of_two(self.digits, self.times, len(self.categories) + 1)

    @cached_property
    def _presence(self) -> tuple[npt.NDArray[np.int64] | None, npt.NDArray[np.int64]]:
        """Return ``in_common`` and ``_by_judges``, computed together."""
        if self.digits is None:
            judges = self.counted.rows.sum(axis=1)
            by_judges = np.bincount(judges, weights=self.counted.times, minlength=3)
            return None, by_judges.astype(np.int64)
        if self._of_two is not None:
            return presence_of_two(self._of_two)
        if "judged" in self.__dict__:
            return presence(self.judged.rows + 1, self.judged.times)
        return presence(self.digits, self.times)

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...] | None:
        """Return pairs of raters (matrix columns) with a unit in common; None if unknown."""
        if self.in_common is None:
            return None
        if len(self.in_common) == 2:
            return ((0, 1),) if self.in_common[0, 1] else ()
        first, second = np.nonzero(np.triu(self.in_common, 1))
        return tuple(zip(first.tolist(), second.tolist(), strict=True))

    @property
    def raters(self) -> int:
        """Return the number of raters who share a unit; see ``Coefficient.raters``."""
        if self.pairs is None:
            judges = np.flatnonzero(self._by_judges)
            return int(judges[-1]) if len(judges) and judges[-1] > 1 else 0
        return len({rater for pair in self.pairs for rater in pair})

    @cached_property
    def used(self) -> npt.NDArray[np.bool_]:
        """Return which categories occur in units that at least two raters judged, shape (K,)."""
        if "counted" in self.__dict__ or self.digits is None:
            return np.asarray(self.shared.rows.any(axis=0))
        tables = self.pair_tables
        return np.asarray((tables.sum(axis=(0, 1)) + tables.sum(axis=(0, 2))) > 0)

    @cached_property
    def pair_tables(self) -> npt.NDArray[np.int64]:
        """Return how many units each of ``pairs`` put into which two categories, shape (S, K, K).

        Rows are the first rater's categories. ValueError for a table of units x categories.
        """
        pairs = self.pairs or ()
        base = len(self.categories) + 1
        if self._of_two is not None and pairs == ((0, 1),):
            return self._of_two[np.newaxis, 1:, 1:]
        digits = self.known
        if "judged" in self.__dict__ or base ** digits.shape[1] <= FEW_CODES:
            return tables_of_pairs(self.judged.rows + 1, self.judged.times, base, pairs)
        return tables_of_pairs(digits, self.times, base, pairs)

    def of(self, raters: Sequence[int]) -> Ratings:
        """Return the ratings of only these raters (matrix columns), with the same rows.

        ValueError for a table of units x categories, which does not say who judged.
        """
        columns = list(raters)
        names = None if self.names is None else tuple(self.names[at] for at in columns)
        return replace(self, digits=self.known[:, columns], names=names)

    def seen(self) -> Ratings:
        """Return the ratings on the scale of the categories that occur, in the same order.

        Categories that occur only in units judged by a single rater do not count, because these
        units are left out of every coefficient; the value of such a rating is lost. ValueError for
        a table of units x categories, whose columns are its scale.
        """
        if self.digits is None:
            raise ValueError(
                "a table of units x categories has the scale of its columns; "
                "leave out the columns of unused categories"
            )
        used = self.used
        if used.all() or not used.any():
            return self
        kept = tuple(c for c, occurs in zip(self.categories, used, strict=True) if occurs)
        renumbered = np.concatenate([[0], np.where(used, np.cumsum(used), 1)])
        digits = renumbered.astype(self.digits.dtype)[self.digits]
        return replace(self, categories=kept, digits=digits)

    def _without_empty_rows(self) -> Ratings:
        """Return the ratings without rows that stand for no unit."""
        if self.times is None or self.times.all():
            return self
        kept = np.flatnonzero(self.times)
        rows = {name: getattr(self, name) for name in ("digits", "table", "times", "clusters")}
        return replace(
            self,
            **{name: its[kept] for name, its in rows.items() if its is not None},
            labels=None if self.labels is None else tuple(self.labels[at] for at in kept),
        )

    @property
    def known(self) -> npt.NDArray[np.unsignedinteger[Any]]:
        """Return ``digits``; ValueError for a table of units x categories."""
        if self.digits is None:
            raise ValueError(
                "a table of units x categories does not say who judged; "
                "give the ratings as units x raters, or use Fleiss' kappa"
            )
        return self.digits
