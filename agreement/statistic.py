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
    """

    patterns: Callable[[], Patterns]
    terms: Callable[[npt.NDArray[np.int64]], FloatArray]
    value: Callable[[npt.NDArray[Any]], npt.NDArray[Any]]
    sums: FloatArray | None = None
    lost: int = 1
    of_counts: bool = False
    fewest: int = 2

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
        moved = np.tile(sums.astype(np.complex128), (len(sums), 1))
        moved[np.diag_indices(len(sums))] += 1j * _STEP
        return np.asarray(self.value(moved).imag / _STEP)


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
