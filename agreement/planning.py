"""Simulate how many units people must judge for a sufficiently narrow interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from .coefficient import Coefficient
from .kappa import cohen_kappa
from .pooled import gwet_ac, percent_agreement
from .ratings import Ratings

FEWEST_SETS = 100
FEWEST_UNITS = 10
# The search ends here: no project has more units judged twice.
MOST_UNITS = 1_000_000
# How often the number of units is corrected by the resulting width, at most.
_MOST_STEPS = 12
_Z = 1.959963984540054

Floats: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.float64]]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How many units are needed, and how certain that number is.

    Attributes:
        units: Units that every rater judges; None if more than MOST_UNITS would be needed.
        error: Half of the 95% interval of ``units`` due to simulating only ``sets`` data sets of
            each size; 0 if ``units`` is None.
        width: Mean width of the interval with that many units.
        width_error: Half of its 95% Monte Carlo interval.
        wanted: The requested width.
        without: Share of simulated data sets that had no interval.
        sets: Data sets simulated with that many units.
        seed: Seed of the simulation.
        note: The assumptions, in a sentence.
    """

    units: int | None
    error: int
    width: float
    width_error: float
    wanted: float
    without: float
    sets: int
    seed: int
    note: str


def plan(
    *,
    width: float,
    agreement: float,
    prevalence: Sequence[float],
    raters: int = 2,
    missing: float = 0.0,
    coefficient: Callable[..., Coefficient] = cohen_kappa,
    interval: Literal["bootstrap", "bca", "analytic"] = "analytic",
    sets: int = 1_000,
    resamples: int = 1_000,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
    **options: Any,
) -> Plan:
    """Return the number of units for which the 95% interval is ``width`` wide on average.

    The simulated raters know the truth of a unit with a probability that gives the expected
    agreement, and otherwise draw from the prevalence of the categories. Then every coefficient that
    corrects for chance by the margins (Scott's pi, Cohen's and Fleiss' kappa and Krippendorff's
    alpha, weighted or not) is that probability squared.

    Args:
        width: The width of the interval, from its lower to its upper end; above 0.
        agreement: The expected value of ``coefficient``.
        prevalence: How often each category of the scale is chosen; shares that sum to 1.
        raters: How many judge every unit, 2 or more.
        missing: Share of judgments that will be missing, from 0 to below 1.
        coefficient: A coefficient of this package.
        interval: How the interval will be made. "analytic" needs no resampling.
        sets: Data sets to simulate of each size, at least FEWEST_SETS.
        resamples: Resamples of each data set, for methods that resample.
        seed: Seed of the simulation.
        progress: Called with the number of steps done and the maximum number of steps.
        **options: Other arguments of the coefficient, such as weights or level.

    Raises:
        ValueError: an invalid argument, or an agreement that such raters cannot have.
    """
    shares = _check(width, prevalence, raters, missing, sets)
    knowing = _share_of_knowing(agreement, shares, coefficient, options)
    rng = np.random.default_rng(seed)
    how: dict[str, Any] = {**options, "interval": interval, "resamples": resamples}
    note = (
        f"{raters} raters, {coefficient.__name__} {agreement:g}, prevalence "
        f"{', '.join(f'{share:g}' for share in shares)}, {missing:.0%} missing; "
        f"{sets:,} simulated data sets of each size, seed {seed}"
    )
    units = max(FEWEST_UNITS, min(MOST_UNITS, math.ceil((4 / width) ** 2 / 4)))
    seen: dict[int, tuple[float, float, float]] = {}
    for step in range(_MOST_STEPS):
        if progress is not None:
            progress(step, _MOST_STEPS)
        widths = _simulate_widths(
            units, shares, knowing, raters, missing, coefficient, how, sets, rng
        )
        mean, error = _mean_with_error(widths)
        seen[units] = mean, error, 1 - len(widths) / sets
        # Widths shrink with the root of the number of units, which gives the next number to try.
        next_units = 2 * units if math.isinf(mean) else math.ceil(units * (mean / width) ** 2)
        next_units = max(FEWEST_UNITS, min(MOST_UNITS, next_units))
        settled = abs(mean - width) <= error and next_units in range(
            units - max(1, units // 100), units + max(1, units // 100) + 1
        )
        if next_units == units or settled or next_units in seen:
            break
        units = next_units
    if progress is not None:
        progress(_MOST_STEPS, _MOST_STEPS)
    mean, error, without = seen[units]
    enough = mean <= width + error
    return Plan(
        units=units if enough else None,
        error=math.ceil(2 * units * error / mean) if enough else 0,
        width=mean,
        width_error=error,
        wanted=width,
        without=without,
        sets=sets,
        seed=seed,
        note=note,
    )


def _mean_with_error(widths: Floats) -> tuple[float, float]:
    """Return the mean width and half of its 95% Monte Carlo interval; infinite without widths."""
    if not len(widths):
        return math.inf, 0.0
    error = _Z * float(widths.std(ddof=1)) / math.sqrt(max(2, len(widths)))
    return float(widths.mean()), error


def _check(
    width: float, prevalence: Sequence[float], raters: int, missing: float, sets: int
) -> Floats:
    if not width > 0:
        raise ValueError(f"the width of an interval must be above 0, not {width}")
    shares = np.asarray(prevalence, dtype=np.float64)
    if shares.ndim != 1 or len(shares) < 2 or not (shares >= 0).all():
        raise ValueError("prevalence is the share of each of two or more categories")
    if not math.isclose(float(shares.sum()), 1, abs_tol=1e-6) or shares.max() >= 1:
        raise ValueError("the shares of the categories must sum to 1, and none may be 1")
    if raters < 2:
        raise ValueError(f"agreement needs two or more raters, not {raters}")
    if not 0 <= missing < 1:
        raise ValueError(f"the share of missing judgments must be from 0 to below 1, not {missing}")
    if sets < FEWEST_SETS:
        raise ValueError(f"{sets} data sets are too few; take {FEWEST_SETS} or more")
    return np.asarray(shares / shares.sum())


def _share_of_knowing(
    agreement: float,
    shares: Floats,
    coefficient: Callable[..., Coefficient],
    options: dict[str, Any],
) -> float:
    """Return how often a rater must know the truth for the coefficient to be ``agreement``."""
    # If no rater knows the truth, the coefficient has this value; if all do, it is 1. Between these
    # it is linear in the square of the share. It is 0 except for coefficients that do not correct
    # for chance by the margins.
    at_chance = 0.0
    if coefficient in (percent_agreement, gwet_ac):
        everything = np.stack(np.meshgrid(range(len(shares)), range(len(shares))), axis=-1)
        pairs = everything.reshape(-1, 2)
        times = np.rint(np.outer(shares, shares).ravel() * 1e12).astype(np.int64)
        table = Ratings.from_patterns(pairs, times, categories=range(len(shares)))
        at_chance = coefficient(table, **options).value or 0.0
    if not at_chance <= agreement < 1:
        raise ValueError(
            f"the expected agreement must be from {at_chance:.3g}, which is chance, to below 1, "
            f"not {agreement}"
        )
    return math.sqrt((agreement - at_chance) / (1 - at_chance))


def _simulate_widths(
    units: int,
    shares: Floats,
    knowing: float,
    raters: int,
    missing: float,
    coefficient: Callable[..., Coefficient],
    how: dict[str, Any],
    sets: int,
    rng: np.random.Generator,
) -> Floats:
    widths = []
    for _ in range(sets):
        table = simulate_ratings(units, shares, knowing, raters, missing, rng)
        interval = coefficient(table, categories=range(len(shares)), **how).interval
        if interval is not None:
            widths.append(interval.high - interval.low)
    return np.array(widths)


def simulate_ratings(
    units: int,
    shares: Floats,
    knowing: float,
    raters: int,
    missing: float,
    rng: np.random.Generator,
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Return ratings (N, R) of raters who know the truth with a probability, and else draw.

    Args:
        units: N.
        shares: How often each category is the truth, and how often it is drawn.
        knowing: How often a rater knows the truth.
        raters: R.
        missing: Share of ratings that are nan.
        rng: The random generator.
    """
    limits = np.cumsum(shares)[:-1]
    truth = np.searchsorted(limits, rng.random((units, 1)), side="right")
    drawn = np.searchsorted(limits, rng.random((units, raters)), side="right")
    table = np.where(rng.random((units, raters)) < knowing, truth, drawn).astype(np.float64)
    if missing:
        table[rng.random(table.shape) < missing] = np.nan
    return table
