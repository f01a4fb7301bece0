"""Counts over pairs of raters: how many units both judged, and in which categories.

All take digits of shape (N, R), one row per unit: 0 if the rater did not judge it, else the
position on the scale, counted from 1. ``times``, of shape (N,), is how many units each row stands
for; None for one each. ``base`` is the number of categories plus one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .counting import BLOCK, FEW_CODES, Digits, Integers, codes_of


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
