"""A coefficient as a function of sums over units, which is what every one of them is.

That one form gives the value, every resample and the linearised variance: a resample has other
sums, and the influence of a unit is the derivative of the function in the direction of its terms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .counting import Patterns

FloatArray = npt.NDArray[np.float64]

# Step of the derivative. It is taken along the imaginary axis, where nothing is subtracted and the
# step can be so small that the derivative is exact.
_STEP = 1e-30


@dataclass(frozen=True, slots=True)
class Statistic:
    """A coefficient as a function of D sums over units.

    Attributes:
        patterns: Gives the distinct units and how often each occurs. They are counted when asked
            for, which the value alone may not need.
        terms: From rows of patterns (P, C) to what such a unit adds to the sums, shape (P, D).
        value: From sums (B, D), of B resamples, to the coefficient, shape (B,); nan where it is
            undefined. Takes complex sums too.
        sums: The sums over all units, shape (D,), where they are known without the patterns.
        lost: Degrees of freedom that the variance is corrected for: 1 for sum / (N - 1), 0 for
            sum / N, as the source of the variance has it.
        of_counts: Whether rows are those of ``Ratings.counted`` and not of ``Ratings.judged``.
        fewest: How many ratings a unit needs to enter any of the sums.
    """

    patterns: Callable[[], Patterns]
    terms: Callable[[npt.NDArray[np.int64]], FloatArray]
    value: Callable[[npt.NDArray[Any]], npt.NDArray[Any]]
    sums: FloatArray | None = None
    lost: int = 1
    of_counts: bool = False
    fewest: int = 2

    def totals(self) -> FloatArray:
        """The sums over all units, shape (D,)."""
        if self.sums is not None:
            return self.sums
        patterns = self.patterns()
        return np.asarray(patterns.times @ self.terms(patterns.rows))

    def of_all(self) -> float:
        """The coefficient of the data themselves; nan where undefined."""
        return float(self.value(self.totals()[np.newaxis])[0])

    def gradient(self, sums: FloatArray) -> FloatArray:
        """The derivative of the coefficient by each of its sums, shape (D,)."""
        moved = np.tile(sums.astype(np.complex128), (len(sums), 1))
        moved[np.diag_indices(len(sums))] += 1j * _STEP
        return np.asarray(self.value(moved).imag / _STEP)


def corrected(disagreement: npt.NDArray[Any], by_chance: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """1 - observed / expected disagreement, the form of every coefficient; nan for 1 - x / 0."""
    return np.asarray(1 - quotient(disagreement, by_chance))


def quotient(above: npt.NDArray[Any], below: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """above / below, and nan (without a warning) where below is 0."""
    defined = below.real > 0
    if defined.all():
        return np.asarray(above / below)
    result = np.full(below.shape, np.nan, dtype=np.result_type(above, below, np.float64))
    np.divide(above, below, out=result, where=defined)
    return result
