"""Ratings in any of three shapes, brought into one form that counts instead of listing.

Units with the same pattern of values are exchangeable for every coefficient of this package, so
all of them work on the distinct patterns and how often each occurs. What comes after the counting
costs as much for a thousand units as for a million.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from .coefficient import Excluded

# Rows of units, one value per rater. Beside what numpy calls an array, lists with None or words.
Matrix: TypeAlias = npt.ArrayLike | Sequence[Sequence[Hashable]]
Categories: TypeAlias = Sequence[Hashable] | npt.NDArray[Any] | Literal["seen"]

# Rows encoded at a time, so that what is compared stays in the processor's cache.
_BLOCK = 16_384
# Codes of patterns are kept in 64-bit integers.
_LARGEST_CODE = 2**62
# From here on one search per value is quicker than one comparison per category.
_MANY_CATEGORIES = 48


class Patterns(NamedTuple):
    """The distinct rows of a table, the most frequent first, and how often each occurs.

    Attributes:
        rows: Shape (P, C).
        times: Shape (P,), positive.
    """

    rows: npt.NDArray[np.int64]
    times: npt.NDArray[np.int64]

    def where(self, kept: npt.NDArray[np.bool_]) -> Patterns:
        """The patterns for which ``kept``, shape (P,), is true."""
        return Patterns(self.rows[kept], self.times[kept])


@dataclass(frozen=True, eq=False)
class Ratings:
    """Who judged what how, on a given scale; made by one of the ``from_`` methods.

    Attributes:
        categories: The scale in its order. A category nobody used still belongs to it.
        ordered: Whether that order means anything. Only categories that were collected from
            values which are not numbers have none.
        digits: Shape (R, N), one row per rater: 0 where the rater did not judge the unit, else the
            position on the scale, counted from 1. None for a table of units x categories.
        counted: One pattern per way to distribute raters over categories: rows (P, K) hold how
            many raters chose each category. Units with no rater or one are in here too.
    """

    categories: tuple[Hashable, ...]
    ordered: bool
    digits: npt.NDArray[np.unsignedinteger[Any]] | None
    counted: Patterns

    @classmethod
    def from_matrix(cls, values: Matrix, *, categories: Categories) -> Ratings:
        """Ratings from a matrix of units x raters, nan (or None) where a rater did not judge.

        Args:
            values: Shape (N, R), numbers or any hashable labels.
            categories: The scale in its order, or "seen" for the values that occur.

        Raises:
            ValueError: not a matrix, a value that is not on the scale, or a scale that is none.
        """
        table = _as_table(values, "ratings", "units x raters")
        scale, ordered = _resolved(categories, table)
        ratings = cls._from_digits(_digits(table, scale), scale, ordered)
        return ratings.seen() if isinstance(categories, str) else ratings

    @classmethod
    def from_long(
        cls, rows: Iterable[tuple[Hashable, Hashable, Hashable]], *, categories: Categories
    ) -> Ratings:
        """Ratings from rows of (unit, rater, value), in any order; nan or None is no judgment.

        Raises:
            ValueError: a unit that one rater judged twice, a value that is not on the scale, or a
                scale that is none.
        """
        units: dict[Hashable, int] = {}
        raters: dict[Hashable, int] = {}
        where: list[tuple[int, int]] = []
        values: list[Hashable] = []
        for unit, rater, value in rows:
            where.append(
                (units.setdefault(unit, len(units)), raters.setdefault(rater, len(raters)))
            )
            values.append(value)
        at = np.array(where, dtype=np.int64).reshape(-1, 2)
        cells, times = np.unique(at[:, 0] * len(raters) + at[:, 1], return_counts=True)
        if (times > 1).any():
            unit_at, rater_at = divmod(int(cells[times > 1][0]), len(raters))
            raise ValueError(
                f"the unit {list(units)[unit_at]!r} was judged twice by the rater "
                f"{list(raters)[rater_at]!r}"
            )
        column = np.empty((len(values), 1), dtype=object)
        column[:, 0] = values
        scale, ordered = _resolved(categories, column)
        encoded = _digits(column, scale)[0]
        digits = np.zeros((len(raters), len(units)), dtype=encoded.dtype)
        digits[at[:, 1], at[:, 0]] = encoded
        ratings = cls._from_digits(digits, scale, ordered)
        return ratings.seen() if isinstance(categories, str) else ratings

    @classmethod
    def from_counts(cls, table: npt.ArrayLike, *, categories: Categories) -> Ratings:
        """Ratings from a table of units x categories that holds how many raters chose each.

        Such a table does not say who judged, so Cohen's kappa cannot be computed from it.

        Args:
            table: Shape (N, K), whole numbers of 0 or more.
            categories: The scale in its order, one per column.

        Raises:
            ValueError: not a table, a number of columns that is not that of the scale, or a count
                that is negative or no whole number.
        """
        counts = _as_table(table, "the table of counts", "units x categories")
        if isinstance(categories, str):
            raise ValueError("a table of units x categories needs the scale: one name per column")
        scale = _scale(categories)
        if counts.shape[1] != len(scale):
            raise ValueError(
                f"the table has {counts.shape[1]} columns, the scale has {len(scale)} categories"
            )
        if counts.dtype.kind not in "iuf":
            raise ValueError("a table of counts holds numbers of raters, and nothing else")
        if counts.size and (counts < 0).any():
            raise ValueError(f"a count of raters cannot be negative: {counts.min():g}")
        whole = counts.astype(np.int64) if np.isfinite(counts).all() else counts
        if (whole != counts).any() or whole.dtype.kind == "f":
            raise ValueError("a count of raters must be a whole number")
        return cls(scale, True, None, _tally(whole.T, int(whole.max(initial=0)) + 1))

    @classmethod
    def _from_digits(
        cls,
        digits: npt.NDArray[np.unsignedinteger[Any]],
        categories: tuple[Hashable, ...],
        ordered: bool,
    ) -> Ratings:
        return cls(categories, ordered, digits, _value_counts(digits, len(categories)))

    @cached_property
    def judged(self) -> Patterns:
        """One pattern per way in which the raters judged a unit; ValueError if unknown.

        Rows (P, R) hold the position on the scale, counted from 0, and -1 for no judgment.
        """
        if self.digits is None:
            raise ValueError(
                "a table of units x categories does not say who judged; "
                "give the ratings as units x raters, or take Fleiss' kappa"
            )
        patterns = _tally(self.digits, len(self.categories) + 1)
        return Patterns(patterns.rows - 1, patterns.times)

    @cached_property
    def shared(self) -> Patterns:
        """The patterns of ``counted`` that at least two raters judged: those that tell anything."""
        return self.counted.where(self.counted.rows.sum(axis=1) >= 2)

    @property
    def units(self) -> int:
        """How many units at least two raters judged."""
        return int(self.shared.times.sum())

    @property
    def excluded(self) -> tuple[Excluded, ...]:
        """The units that fewer than two raters judged, by reason."""
        judges = self.counted.rows.sum(axis=1)
        found = (
            Excluded("judged by one rater only", int(self.counted.times[judges == 1].sum())),
            Excluded("judged by nobody", int(self.counted.times[judges == 0].sum())),
        )
        return tuple(entry for entry in found if entry.units)

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...] | None:
        """Pairs of raters (columns of the matrix) with a unit in common; None if unknown."""
        if self.digits is None:
            return None
        present = self.digits > 0
        return tuple(
            (first, second)
            for first, second in combinations(range(len(present)), 2)
            if (present[first] & present[second]).any()
        )

    @property
    def raters(self) -> int:
        """Raters who judged a unit that someone else judged too; see ``Coefficient.raters``."""
        if self.pairs is None:
            return int(self.shared.rows.sum(axis=1).max(initial=0))
        return len({rater for pair in self.pairs for rater in pair})

    @property
    def used(self) -> npt.NDArray[np.bool_]:
        """Shape (K,): which categories occur in units that at least two raters judged."""
        return np.asarray(self.shared.rows.any(axis=0))

    def between(self, first: int, second: int) -> Ratings:
        """The same ratings, of these two raters (columns of the matrix) only."""
        if self.digits is None:
            raise ValueError("a table of units x categories does not say who judged")
        return self._from_digits(self.digits[[first, second]], self.categories, self.ordered)

    def by_pair(self) -> Iterator[tuple[int, int, Ratings]]:
        """Every pair of raters with a unit in common, and their ratings: a table of all pairs."""
        for first, second in self.pairs or ():
            yield first, second, self.between(first, second)

    def seen(self) -> Ratings:
        """The same ratings on the scale of the categories that occur, in the same order.

        What occurs only in units that a single rater judged does not count, as these units are
        left out of every coefficient; their value is not kept. ValueError for a table of units x
        categories, whose columns are its scale.
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
        renumbered = np.ones(len(used) + 1, dtype=self.digits.dtype)
        renumbered[0] = 0
        renumbered[1:][used] = np.arange(1, len(kept) + 1)
        return self._from_digits(renumbered[self.digits], kept, self.ordered)


def as_ratings(ratings: Ratings | Matrix, categories: Categories | None) -> Ratings:
    """What a caller gave to a coefficient, in the one form they all work on.

    Args:
        ratings: A matrix of units x raters with nan for missing, or ``Ratings`` made before.
        categories: The scale in its order, or "seen"; for ``Ratings``, which carry their scale,
            None or "seen".

    Raises:
        ValueError: see ``Ratings.from_matrix``; a matrix without a scale; a second scale.
    """
    if not isinstance(ratings, Ratings):
        if categories is None:
            raise ValueError(
                "categories is missing: give the scale in its order, "
                'or "seen" for the values that occur'
            )
        return Ratings.from_matrix(ratings, categories=categories)
    if categories is None:
        return ratings
    if isinstance(categories, str):
        _check_seen(categories)
        return ratings.seen()
    if _scale(categories) != ratings.categories:
        raise ValueError("these ratings carry their own scale; do not give another one")
    return ratings


def _resolved(categories: Categories, table: npt.NDArray[Any]) -> tuple[tuple[Hashable, ...], bool]:
    """The scale for a table, and whether its order means anything."""
    if isinstance(categories, str):
        _check_seen(categories)
        return _distinct(table)
    return _scale(categories), True


def _check_seen(word: str) -> None:
    if word != "seen":
        raise ValueError(f'categories is a scale or the word "seen", not {word!r}')


def _scale(categories: Sequence[Hashable] | npt.NDArray[Any]) -> tuple[Hashable, ...]:
    """The scale as plain Python values; ValueError if it is none."""
    if isinstance(categories, Set | Mapping):
        raise ValueError("a scale has an order; give the categories as a list")
    scale = tuple(c.item() if isinstance(c, np.generic) else c for c in categories)
    if not scale:
        raise ValueError("the scale is empty; it needs at least one category")
    try:
        twice = len(set(scale)) < len(scale)
    except TypeError:
        raise ValueError("a scale is a flat list of numbers or words") from None
    if twice:
        raise ValueError(f"a category stands twice on the scale {_shown(scale)}")
    _check_categories(scale)
    return scale


def _check_categories(scale: Sequence[Hashable]) -> None:
    for category in scale:
        if category is None or (isinstance(category, float) and not math.isfinite(category)):
            raise ValueError(f"{category} cannot be a category; nan and None mean not judged")


def _missing(value: object) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _shown(scale: Sequence[Hashable]) -> str:
    words = [str(c) for c in scale]
    return ", ".join(words if len(words) <= 12 else [*words[:10], "...", words[-1]])


def _numeric(scale: Iterable[Hashable]) -> bool:
    return all(isinstance(c, int | float) for c in scale)


def _as_table(values: Matrix, what: str, shape: str) -> npt.NDArray[Any]:
    if isinstance(values, np.ma.MaskedArray):
        # asarray() would show what the mask hides.
        hidden = np.ma.getmaskarray(values)
        values = np.asarray(values.data, dtype=object)
        values[hidden] = None
    table = np.asarray(values)
    if table.dtype.kind in "US" and not isinstance(values, np.ndarray):
        # numpy makes the word "nan" of a nan among words.
        table = np.asarray(values, dtype=object)
    if table.ndim != 2:
        raise ValueError(f"{what} must have two dimensions, {shape}; this has {table.ndim}")
    return table


def _distinct(table: npt.NDArray[Any]) -> tuple[tuple[Hashable, ...], bool]:
    """The values that occur in a table, and whether their order means anything."""
    if table.dtype.kind in "iufb":
        values = set(np.unique(table[~np.isnan(table)]).tolist())
    else:
        values = {
            v.item() if isinstance(v, np.generic) else v for v in table.flat if not _missing(v)
        }
    ordered = _numeric(values)
    found = tuple(sorted(values, key=None if ordered else repr))
    _check_categories(found)
    return found, ordered


def _digits(
    table: npt.NDArray[Any], scale: tuple[Hashable, ...]
) -> npt.NDArray[np.unsignedinteger[Any]]:
    """Shape (R, N) for a table (N, R): 0 for missing, else the position on the scale from 1."""
    dtype = np.min_scalar_type(len(scale))
    digits = np.zeros(table.shape, dtype=dtype)
    if table.dtype.kind not in "iufb" or not _numeric(scale):
        position: dict[Hashable, int] = {c: at for at, c in enumerate(scale, start=1)}
        flat = digits.reshape(-1)
        for at, value in enumerate(table.flat):
            if not _missing(value):
                try:
                    flat[at] = position[value]
                except (KeyError, TypeError):
                    raise _off_scale(value, scale) from None
        return np.ascontiguousarray(digits.T)
    for start in range(0, len(table), _BLOCK):
        block = table[start : start + _BLOCK]
        encoded = digits[start : start + _BLOCK]
        _encode(block, np.asarray(scale, dtype=np.float64), encoded)
        missing = np.isnan(block)
        if np.count_nonzero(encoded) + np.count_nonzero(missing) != block.size:
            raise _off_scale(block[(encoded == 0) & ~missing][0].item(), scale)
    return np.ascontiguousarray(digits.T)


def _encode(
    block: npt.NDArray[Any],
    scale: npt.NDArray[np.float64],
    encoded: npt.NDArray[np.unsignedinteger[Any]],
) -> None:
    """Write the position on the scale, from 1, of every number of ``block`` that is on it."""
    if len(scale) < _MANY_CATEGORIES:
        for at, category in enumerate(scale, start=1):
            encoded += (block == category).view(np.uint8) * encoded.dtype.type(at)
        return
    order = np.argsort(scale)
    found = np.searchsorted(scale, block, sorter=order).clip(max=len(scale) - 1)
    np.copyto(encoded, order[found] + 1, where=scale[order[found]] == block, casting="unsafe")


def _off_scale(value: object, scale: Sequence[Hashable]) -> ValueError:
    return ValueError(f"the value {value!r} is not on the scale {_shown(scale)}")


def _value_counts(digits: npt.NDArray[np.unsignedinteger[Any]], categories: int) -> Patterns:
    """The patterns of how many raters chose each category, from digits of shape (R, N)."""
    raters, units = digits.shape
    base = raters + 1
    if base**categories > _LARGEST_CODE:
        # Raters are interchangeable here: what they said in ascending order is a pattern too.
        patterns = _tally(np.sort(digits, axis=0), categories + 1)
        counts = np.stack(
            [(patterns.rows == k).sum(axis=1) for k in range(1, categories + 1)], axis=1
        )
        return Patterns(counts, patterns.times)
    share = np.array([0, *(base**k for k in reversed(range(categories)))], dtype=np.int64)
    codes = np.zeros(units, dtype=np.int64)
    for rater in digits:
        codes += share[rater]
    return _decoded(codes, base, categories)


def _tally(columns: npt.NDArray[np.integer[Any]], base: int) -> Patterns:
    """The distinct units of a table given column by column, shape (C, N), of digits below base."""
    width, units = columns.shape
    if base**width > _LARGEST_CODE:
        rows, times = np.unique(columns.T, axis=0, return_counts=True)
        return _sorted(rows.astype(np.int64), times)
    codes = np.zeros(units, dtype=np.int64)
    for column in columns:
        codes *= base
        codes += column
    return _decoded(codes, base, width)


def _decoded(codes: npt.NDArray[np.int64], base: int, width: int) -> Patterns:
    """The patterns behind codes, which are numbers of ``width`` digits to a base."""
    if base**width <= max(4 * len(codes), 65_536):
        all_times = np.bincount(codes)
        found = np.flatnonzero(all_times)
        times = all_times[found]
    else:
        found, times = np.unique(codes, return_counts=True)
    rows = np.empty((len(found), width), dtype=np.int64)
    for at in reversed(range(width)):
        found, rows[:, at] = np.divmod(found, base)
    return _sorted(rows, times)


def _sorted(rows: npt.NDArray[np.int64], times: npt.NDArray[np.int64]) -> Patterns:
    # The most frequent first: a multinomial draw is over once every unit is placed. Patterns come
    # in the order of their codes, so the order of the units does not matter to a seeded draw.
    order = np.argsort(-times, kind="stable")
    return Patterns(rows[order], times[order])
