"""Counting: the distinct rows of a table, and how often each occurs.

Rows of small digits are read as numbers to a base. So counting them needs one table of all possible
numbers, or one sort of integers if there are too many of these.

The last functions count over pairs of raters. They take digits of shape (N, R), one row per unit: 0
if the rater did not judge it, else the position on the scale, counted from 1. ``times``, of shape
(N,), is how many units each row stands for; None for one each. ``base`` is the number of categories
plus one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

Digits: TypeAlias = npt.NDArray[np.integer[Any]]
Integers: TypeAlias = npt.NDArray[np.int64]

# How many rows are coded at a time, so that the data fit in the processor's cache.
BLOCK = 16_384
# Up to this many possible patterns are counted in one table of all of them.
FEW_CODES = 2**16
# Codes are kept in 64-bit integers.
_LARGEST_CODE = 2**62
# Matrix products of whole numbers are exact up to these, in 32-bit and 64-bit floats.
_EXACT_32, _EXACT_64 = 2**24, 2**53
# The codes of several raters are looked up in a table of this size, which fits in the cache.
_LOOKUP_SIZE = 2**13
# Up to this many cells, one look-up per cell is faster than computing codes of several raters.
FEW_CELLS = 50_000


class Patterns(NamedTuple):
    """The distinct rows of a table, the most frequent first, and how often each occurs.

    Attributes:
        rows: Shape (P, C).
        times: Shape (P,), positive.
        clusters: Shape (P,), the cluster of each, counted from 0; equal rows of two clusters are
            then distinct. None if units belong to no cluster.
    """

    rows: Integers
    times: Integers
    clusters: Integers | None = None

    def where(self, kept: npt.NDArray[np.bool_]) -> Patterns:
        """Return the patterns for which ``kept``, shape (P,), is true."""
        clusters = None if self.clusters is None else self.clusters[kept]
        return Patterns(self.rows[kept], self.times[kept], clusters)


def tally(
    rows: Digits, base: int, times: Integers | None = None, clusters: Integers | None = None
) -> Patterns:
    """Return the distinct rows of a table of digits, and how many units each stands for.

    Args:
        rows: Shape (N, C).
        base: A number above every digit.
        times: Shape (N,), how many units each row stands for; None for one each.
        clusters: Shape (N,), the clusters, whose rows are counted separately; None for none.
    """
    width = rows.shape[1]
    codes = base**width
    groups = 1 if clusters is None else int(clusters.max(initial=0)) + 1
    if codes * groups > _LARGEST_CODE:
        return _tally_by_rows(rows, times, clusters)
    if clusters is None and codes <= FEW_CODES and codes <= 8 * len(rows) and len(rows) > BLOCK:
        all_times = np.zeros(codes, dtype=np.int64)
        for start in range(0, len(rows), BLOCK):
            part = None if times is None else times[start : start + BLOCK]
            coded = _codes(rows[start : start + BLOCK], base)
            all_times += _bincount(coded, part, codes)
        present = np.flatnonzero(all_times)
        return _decode(present, all_times[present], base, width, None)
    of_rows = codes_of(rows, base)
    if clusters is None:
        return _decode(*_distinct_codes(of_rows, codes, times), base, width, None)
    present, occurs = _distinct_codes(clusters * codes + of_rows, groups * codes, times)
    cluster, present = np.divmod(present, codes)
    return _decode(present, occurs, base, width, cluster)


def value_counts(
    digits: Digits, categories: int, times: Integers | None, clusters: Integers | None
) -> Patterns:
    """Return the patterns of how many raters chose each category, from digits (N, R).

    Digits are 0 if a rater did not judge, else the position on the scale, counted from 1.
    """
    raters = digits.shape[1]
    base = raters + 1
    if base**categories > _LARGEST_CODE:
        # Raters are interchangeable, so their sorted digits are a pattern too.
        sorted_rows = tally(np.sort(digits, axis=1), categories + 1, times, clusters)
        return sorted_rows._replace(rows=counts_of(sorted_rows.rows, categories))
    share = np.array([0, *(base**k for k in reversed(range(categories)))], dtype=np.int64)
    if digits.size <= FEW_CELLS:
        codes = share[digits].sum(axis=1)
    else:
        codes = _value_codes(digits, share)
    if clusters is None:
        present, occurs = _distinct_codes(codes, base**categories, times)
        return _decode(present, occurs, base, categories, None)
    # The codes may be large, so they are numbered before the cluster is prefixed.
    distinct_codes, numbered = np.unique(codes, return_inverse=True)
    groups = int(clusters.max(initial=0)) + 1
    present, occurs = _distinct_codes(
        clusters * len(distinct_codes) + numbered, groups * max(1, len(distinct_codes)), times
    )
    cluster, at = np.divmod(present, max(1, len(distinct_codes)))
    return _decode(distinct_codes[at], occurs, base, categories, cluster)


def counts_of(digits: Digits, categories: int) -> Integers:
    """Return how often each category occurs in each row of digits (0: none), shape (P, K)."""
    base = categories + 1
    cells = np.arange(len(digits))[:, np.newaxis] * base + digits
    flat = np.bincount(cells.ravel(), minlength=len(digits) * base)
    return flat.reshape(len(digits), base)[:, 1:].astype(np.int64)


def codes_of(rows: Digits, base: int) -> Integers:
    """Return each row of digits below ``base`` as one number below 2^62, shape (N,)."""
    if len(rows) <= BLOCK:
        return _codes(rows, base)
    codes = np.empty(len(rows), dtype=np.int64)
    for start in range(0, len(rows), BLOCK):
        codes[start : start + BLOCK] = _codes(rows[start : start + BLOCK], base)
    return codes


def _codes(rows: Digits, base: int) -> Integers:
    width = rows.shape[1]
    if base**width > _EXACT_64:
        codes = np.zeros(len(rows), dtype=np.int64)
        for column in rows.T:
            codes *= base
            codes += column
        return codes
    # A product of floats uses the processor's vector units, a product of integers does not.
    exact = np.float32 if base**width <= _EXACT_32 else np.float64
    digits: npt.NDArray[Any] = rows.astype(exact)
    return np.asarray(digits @ _powers(base, width, exact)).astype(np.int64)


@lru_cache(maxsize=256)
def _powers(base: int, width: int, exact: type[np.generic]) -> npt.NDArray[Any]:
    powers = np.array([base**at for at in reversed(range(width))], dtype=exact)
    powers.flags.writeable = False
    return powers


def _value_codes(digits: Digits, share: Integers) -> Integers:
    """Return the sums over raters of ``share[digit]``, computed for groups of raters."""
    base = len(share)
    width = 1
    while base ** (width + 1) <= _LOOKUP_SIZE and width < digits.shape[1]:
        width += 1
    raters = range(0, digits.shape[1], width)
    tables = {}
    for start in raters:
        columns = min(width, digits.shape[1] - start)
        if columns not in tables:
            sums = np.zeros(1, dtype=np.int64)
            for _ in range(columns):
                sums = np.add.outer(sums, share).ravel()
            tables[columns] = sums
    codes = np.zeros(len(digits), dtype=np.int64)
    for at in range(0, len(digits), BLOCK):
        block = digits[at : at + BLOCK]
        for start in raters:
            columns = block[:, start : start + width]
            codes[at : at + BLOCK] += tables[columns.shape[1]][_codes(columns, base)]
    return codes


def _distinct_codes(
    codes: Integers, limit: int, times: Integers | None
) -> tuple[Integers, Integers]:
    """Return the distinct codes, ascending, and how many units each stands for.

    All codes are below ``limit``.
    """
    if limit <= max(4 * len(codes), FEW_CODES):
        all_times = _bincount(codes, times, 0)
        present = np.flatnonzero(all_times)
        return present, all_times[present]
    if times is None:
        return np.unique(codes, return_counts=True)
    present, which = np.unique(codes, return_inverse=True)
    occurs = _bincount(which, times, len(present))
    return present[occurs > 0], occurs[occurs > 0]


def _bincount(codes: Integers, times: Integers | None, length: int) -> Integers:
    if times is None:
        return np.bincount(codes, minlength=length)
    return np.bincount(codes, weights=times, minlength=length).astype(np.int64)


def _tally_by_rows(rows: Digits, times: Integers | None, clusters: Integers | None) -> Patterns:
    """Return the same as `tally`, slowly, for rows that do not fit in 64-bit codes."""
    keyed = rows.astype(np.int64)
    if clusters is not None:
        keyed = np.column_stack([keyed, clusters])
    patterns, which, occurs = np.unique(keyed, axis=0, return_inverse=True, return_counts=True)
    if times is not None:
        occurs = _bincount(which.ravel(), times, len(patterns))
        patterns, occurs = patterns[occurs > 0], occurs[occurs > 0]
    if clusters is None:
        return _sort_patterns(patterns, occurs, None)
    return _sort_patterns(patterns[:, :-1], occurs, patterns[:, -1])


def _decode(
    codes: Integers, times: Integers, base: int, width: int, clusters: Integers | None
) -> Patterns:
    """Return the patterns of codes, which are numbers of ``width`` digits to a base."""
    rows = codes[:, np.newaxis] // _powers(base, width, np.int64) % base
    return _sort_patterns(rows, times, clusters)


def _sort_patterns(rows: Integers, times: Integers, clusters: Integers | None) -> Patterns:
    # The most frequent first: a multinomial draw ends as soon as every unit is placed. Equally
    # frequent patterns keep the order of their codes, so that the order of units does not affect a
    # seeded draw.
    order = np.argsort(-times, kind="stable")
    return Patterns(rows[order], times[order], None if clusters is None else clusters[order])


def table_of_two(digits: Digits, times: Integers | None, base: int) -> Integers | None:
    """Return the table of two raters (K + 1, K + 1); first row and column: no judgment.

    None if there are not two raters, or too many categories for a table of all codes.
    """
    if digits.shape[1] != 2 or base * base > FEW_CODES:
        return None
    cells = np.bincount(codes_of(digits, base), weights=times, minlength=base * base)
    return cells.astype(np.int64, copy=False).reshape(base, base)


def presence_of_two(cells: Integers) -> tuple[Integers, Integers]:
    """Return the same as ``presence``, from a ``table_of_two``."""
    first, second = int(cells[1:].sum()), int(cells[:, 1:].sum())
    both, everything = int(cells[1:, 1:].sum()), int(cells.sum())
    return (
        np.array([[first, both], [both, second]]),
        np.array([everything - first - second + both, first + second - 2 * both, both]),
    )


def presence(digits: Digits, times: Integers | None) -> tuple[Integers, Integers]:
    """Return how many units two raters both judged (R, R), and how many units k raters judged.

    The diagonal of the first has the units of each rater; the second, for k = 0, 1, 2 ..., has at
    least three numbers.
    """
    raters = digits.shape[1]
    in_common = np.zeros((raters, raters))
    by_judges = np.zeros(max(3, raters + 1))
    for start in range(0, len(digits), BLOCK):
        present = (digits[start : start + BLOCK] > 0).astype(np.float64)
        weighted, weight = present, None
        if times is not None:
            weight = times[start : start + BLOCK]
            weighted = present * weight[:, np.newaxis]
        in_common += weighted.T @ present
        judges = (present @ np.ones(raters)).astype(np.intp)
        by_judges += np.bincount(judges, weights=weight, minlength=len(by_judges))
    return in_common.astype(np.int64), by_judges.astype(np.int64)


def tables_of_pairs(
    digits: Digits, times: Integers | None, base: int, pairs: Sequence[tuple[int, int]]
) -> Integers:
    """Return per pair of raters how many units they put into which two categories (S, K, K)."""
    columns = np.ascontiguousarray(digits.T, dtype=np.intp if len(digits) < 2e5 else None)
    tables = np.empty((len(pairs), base, base), dtype=np.int64)
    for at, (first, second) in enumerate(pairs):
        codes = columns[first].astype(np.intp) * base + columns[second]
        cells = np.bincount(codes, weights=times, minlength=base * base)
        tables[at] = cells.reshape(base, base)
    return tables[:, 1:, 1:]
