"""From a statistic to a Coefficient: the part that all coefficients have in common."""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

import numpy as np

from .bootstrap import FEWEST_RESAMPLES, FloatArray, Statistic, percentile_interval
from .coefficient import Coefficient
from .tables import Ratings

IntervalMethod: TypeAlias = Literal["bootstrap"] | None


def estimate(
    ratings: Ratings,
    statistic: Statistic,
    *,
    name: str,
    method: str,
    interval: IntervalMethod,
    seed: int,
    resamples: int,
    undefined: str = "",
    note: str = "",
    value: float | None = None,
) -> Coefficient:
    """A Coefficient from a statistic over patterns.

    Args:
        ratings: What the statistic was made from.
        statistic: The coefficient as a function of the patterns' counts.
        name: What the coefficient is called.
        method: Which variant of it this is.
        interval: "bootstrap" for a 95 % interval, or None.
        seed: Seed of the bootstrap.
        resamples: Number of resamples.
        undefined: Why there is no value, if the statistic has none although units were shared and
            more than one category was used.
        note: What a reader of the value has to know.
        value: The value, where it was computed otherwise than by the statistic.

    Raises:
        ValueError: an unknown kind of interval, or too few resamples.
    """
    if interval not in (None, "bootstrap"):
        raise ValueError(f'interval is None or "bootstrap", not {interval!r}')
    if resamples < FEWEST_RESAMPLES:
        raise ValueError(
            f"{resamples} resamples are too few for a 95 % interval; "
            f"take {FEWEST_RESAMPLES} or more"
        )
    if value is None:
        value = statistic.value() if ratings.units else math.nan
    found, how = None, ""
    if math.isnan(value):
        note = f"undefined: {_reason(ratings) or undefined}"
    elif interval == "bootstrap":
        found, how = percentile_interval(statistic, resamples=resamples, seed=seed)
    drawn = interval == "bootstrap" and not math.isnan(value)
    return Coefficient(
        name=name,
        method=method,
        value=None if math.isnan(value) else value,
        note=note,
        interval=found,
        interval_note=how,
        units=ratings.units,
        excluded=ratings.excluded,
        raters=ratings.raters,
        pairs=None if ratings.pairs is None else len(ratings.pairs),
        categories=ratings.categories,
        seed=seed if drawn else None,
        resamples=resamples if drawn else None,
    )


def corrected(disagreement: FloatArray, by_chance: FloatArray) -> FloatArray:
    """1 - observed / expected disagreement, the form of every coefficient; nan for 1 - x / 0."""
    return np.asarray(1 - quotient(disagreement, by_chance))


def quotient(above: FloatArray, below: FloatArray) -> FloatArray:
    """above / below, and nan (without a warning) where below is 0."""
    result = np.full(below.shape, np.nan)
    np.divide(above, below, out=result, where=below > 0)
    return result


def _reason(ratings: Ratings) -> str:
    """Why no coefficient that corrects for chance has a value here; "" if this is not why."""
    if not ratings.units:
        if ratings.digits is not None and (ratings.digits > 0).any(axis=1).sum() == 1:
            return "only one rater judged"
        return "no unit was judged by at least two raters"
    if ratings.used.sum() < 2:
        return "only one category was used"
    return ""
