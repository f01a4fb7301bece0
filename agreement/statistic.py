"""Coefficients as functions of sums over units, a form that all of them have.

This form gives the value, every resample and the linearised variance: a resample has other sums,
and the influence of a unit is the derivative of the function in the direction of its terms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .counting import Patterns

FloatArray = npt.NDArray[np.float64]

# Step of the derivative. It is taken along the imaginary axis: without a subtraction, the step can
# be so small that the derivative is exact.
_STEP = 1e-30


@dataclass(frozen=True, slots=True)
class SparseTerms:
    """Terms of P rows in D sums, of which most are 0.

    Attributes:
        shape: P and D.
        rows: Shape (M,), the row of each term that is not 0.
        columns: Shape (M,), its sum.
        terms: Shape (M,), the terms.
    """

    shape: tuple[int, int]
    rows: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int64]
    terms: FloatArray

    def sums(self, times: FloatArray) -> FloatArray:
        """Return the sums (B, D) of rows that occur ``times`` (B, P)."""
        sums_of_rows = np.empty((len(times), self.shape[1]))
        for sums, of_rows in zip(sums_of_rows, times, strict=True):
            weights = self.terms * of_rows[self.rows]
            sums[:] = np.bincount(self.columns, weights=weights, minlength=self.shape[1])
        return sums_of_rows

    def times_gradient(self, gradient: FloatArray) -> FloatArray:
        """Return the terms times the derivative by each sum (D,), shape (P,)."""
        weights = self.terms * gradient[self.columns]
        return np.asarray(
            np.bincount(self.rows, weights=weights, minlength=self.shape[0]), dtype=np.float64
        )

    def grouped(self, groups: npt.NDArray[np.int64], times: npt.NDArray[np.int64]) -> SparseTerms:
        """Return the terms of groups of rows: the group and the times of each row, both (P,)."""
        count = int(groups.max(initial=-1)) + 1
        weights = self.terms * times[self.rows]
        return SparseTerms((count, self.shape[1]), groups[self.rows], self.columns, weights)

    def dense(self) -> FloatArray:
        """Return all terms, shape (P, D)."""
        matrix = np.zeros(self.shape)
        matrix[self.rows, self.columns] = self.terms
        return matrix


@dataclass(frozen=True, slots=True)
class Statistic:
    """A coefficient as a function of D sums over units.

    Attributes:
        patterns: Returns the distinct units and how often each occurs. They are counted only when
            called, because the value alone may not need them.
        terms: From rows of patterns (P, C) to their terms in the sums, shape (P, D).
        value: From sums (B, D), of B resamples, to the coefficient, shape (B,); nan if it is
            undefined. Accepts complex sums too.
        sums: The sums over all units, shape (D,), if they are known without the patterns.
        lost: Degrees of freedom for which the variance is corrected: 1 for sum / (N - 1), 0 for
            sum / N, as in the source of the variance.
        of_counts: Whether rows are those of ``Ratings.counted``, not of ``Ratings.judged``.
        fewest: How many ratings a unit needs to count in any of the sums.
        width: If the coefficient is the mean over groups of sums, how many sums each group has:
            ``value`` of one group is its own coefficient. 0 if it is not.
        sparse: Returns the same as ``terms`` in a form that fits in memory for many sums.
        derivative: Returns the derivative by each sum (D,), if it is not taken from ``value``.
    """

    patterns: Callable[[], Patterns]
    terms: Callable[[npt.NDArray[np.int64]], FloatArray]
    value: Callable[[npt.NDArray[Any]], npt.NDArray[Any]]
    sums: FloatArray | None = None
    lost: int = 1
    of_counts: bool = False
    fewest: int = 2
    width: int = 0
    sparse: Callable[[npt.NDArray[np.int64]], SparseTerms] | None = None
    derivative: Callable[[FloatArray], FloatArray] | None = None

    def totals(self) -> FloatArray:
        """Return the sums over all units, shape (D,)."""
        if self.sums is not None:
            return self.sums
        patterns = self.patterns()
        return np.asarray(patterns.times @ self.terms(patterns.rows))

    def of_all(self) -> float:
        """Return the coefficient of the data; nan if undefined."""
        return float(self.value(self.totals()[np.newaxis])[0])

    def gradient(self, sums: FloatArray) -> FloatArray:
        """Return the derivative of the coefficient by each of its sums, shape (D,)."""
        if self.derivative is not None:
            return self.derivative(sums)
        width = self.width or len(sums)
        # Each row is one group with one of its sums moved.
        moved = sums.astype(np.complex128).reshape(-1, width).repeat(width, axis=0)
        moved[np.arange(len(sums)), np.arange(len(sums)) % width] += 1j * _STEP
        values = self.value(moved)
        # A group without a value has no part in the mean.
        valued = ~np.isnan(values)
        groups = max(1, int(valued.sum()) // width) if self.width else 1
        return np.asarray(np.where(valued | (not self.width), values.imag / _STEP, 0.0) / groups)


def corrected(disagreement: npt.NDArray[Any], by_chance: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return 1 - observed / expected disagreement, the form of all coefficients; nan for x / 0."""
    return np.asarray(1 - quotient(disagreement, by_chance))


def quotient(above: npt.NDArray[Any], below: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return above / below, with nan (and no warning) where below is 0."""
    defined = below.real > 0
    if defined.all():
        return np.asarray(above / below)
    result = np.full(below.shape, np.nan, dtype=np.result_type(above, below, np.float64))
    np.divide(above, below, out=result, where=defined)
    return result
