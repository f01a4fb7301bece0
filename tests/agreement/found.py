"""Values and intervals of coefficients that are known to have them."""

from __future__ import annotations

from agreement import Coefficient, Difference, Interval


def value_of(result: Coefficient | Difference) -> float:
    assert result.value is not None
    return result.value


def interval_of(result: Coefficient | Difference) -> Interval:
    assert result.interval is not None
    return result.interval


def error_of(result: Coefficient | Difference) -> float:
    assert result.standard_error is not None
    return result.standard_error
