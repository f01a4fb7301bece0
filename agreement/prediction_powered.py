"""A mean over many units from a machine's values on all and people's values on a drawn sample.

Source: Angelopoulos, Bates, Fannjiang, Jordan and Zrnic (2023), Prediction-powered inference,
Science 382, 669-674 (arXiv 2301.09633): the mean of the machine's values f over all N units,
corrected by the mean difference to people's values y over the n units that people judged. The power
lambda is from Angelopoulos, Duchi and Zrnic (2023), PPI++: Efficient prediction-powered inference
(arXiv 2311.01453)::

    estimate = lambda mean_N(f) + mean_n(y - lambda f)

With lambda = 1 the machine's values count in full, with lambda = 0 people's alone. Both papers take
n labelled and N other units, drawn independently from a larger population. Here the n are drawn
from the N, without replacement, so this is an estimate of survey sampling: Cochran (1977), Sampling
Techniques, 3rd edition, chapter 7, the difference estimate (lambda = 1) and the regression estimate
(lambda is the slope of y on f). The slope makes the variance least. It is cut to 0 and 1, as in the
published code of PPI++ (ppi-python 0.2.3).

With strata, each mean is the sum over strata of N_h / N times the mean of the stratum (Cochran,
chapter 5; for prediction-powered inference Fisch and others (2024), Stratified prediction-powered
inference, arXiv 2406.04291). One lambda serves all strata, because the sample of a stratum may be
small (Cochran, section 7.10, the combined estimate).

The variance is that of the differences y - lambda f within strata, times 1 - n_h / N_h. If lambda
is a slope, each difference is multiplied by its weight in the estimate: Särndal, Swensson and
Wretman (1989), The weighted residual technique for estimating the variance of the general
regression estimator, Biometrika 76, 527-537. The quantile is Student's t with Satterthwaite's
degrees of freedom (Cochran, section 5.4), less one for the slope.

A unit may have no part in the mean, such as a query without a changed document in p-MRR. The
estimate is then the ratio of two such means, and y - estimate, or 0 for a unit that does not count,
takes the place of y in the variance (Cochran, chapter 6). Only units that count according to people
add degrees of freedom, as if their number had been fixed (Cochran, section 2.12).

docs/llm.md describes the populations and the measured coverage of the intervals.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from .coefficient import Interval
from .proportion import CONFIDENCE
from .student_t import quantile

Population: TypeAlias = Literal["these units", "units like these"]
Values: TypeAlias = Mapping[str, float | None]
Floats: TypeAlias = npt.NDArray[np.float64]

# With fewer degrees of freedom the slope is too uncertain, and lambda is 1. A slope helps only if
# the correlation of people and machine is above 1 / sqrt(n - 2): Mani and others (2025), No free
# lunch: Non-asymptotic analysis of prediction-powered inference, arXiv 2505.20178.
FEWEST_TO_TUNE = 15
# A 95% interval of a mean of n units fails to hold at most 6% of the time if n is at least 25 times
# the squared skewness: Cochran (1977), section 2.15.
SKEW_FACTOR = 25
_NO_VARIANCE = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A mean with its interval.

    Attributes:
        value: The estimate; None if it is undefined.
        interval: The two-sided interval; None if there is none.
        note: Why there is no value ("undefined: ...") or no interval ("no interval: ..."), or a
            remark about the interval; or "".
    """

    value: float | None = None
    interval: Interval | None = None
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionPowered:
    """The mean of people's values over all units, estimated in two ways.

    Attributes:
        combined: From the machine's values of all units and people's of the sample.
        people: From people's values of the sample alone.
        machine: The mean of the machine's values of all units; None if no unit counts.
        units: N, how many units there are.
        judged: n, how many of them people judged.
        strata: How many strata the units are in.
        power: The lambda of `combined`, from 0 to 1; None if `combined` is undefined.
        tuned: Whether lambda was estimated from the sample.
        population: Whose mean is estimated: that of "these units", of which only the sample is
            random, or that of "units like these", of which the N are themselves a random sample.
        confidence: Of both intervals, separately.
    """

    combined: Estimate
    people: Estimate
    machine: float | None
    units: int
    judged: int
    strata: int
    power: float | None
    tuned: bool
    population: Population
    confidence: float

    @property
    def width_ratio(self) -> float | None:
        """Return the width of the combined interval divided by that of people alone, if any."""
        combined, people = self.combined.interval, self.people.interval
        if combined is None or people is None or people.low == people.high:
            return None
        return (combined.high - combined.low) / (people.high - people.low)


def prediction_powered(
    machine: Values,
    people: Values,
    *,
    strata: Mapping[str, Hashable] | None = None,
    population: Population = "these units",
    power: float | None = None,
    confidence: float = CONFIDENCE,
) -> PredictionPowered:
    """Estimate the mean of people's values over all units.

    The judged units must have been drawn at random within each stratum.

    Args:
        machine: The machine's value of each of the N units; None for a unit that has no part in the
            mean according to the machine, as `Measurement.by_query` has it.
        people: People's values of the judged units, likewise.
        strata: The stratum of each of the N units; None if the sample was drawn from all alike.
        population: Whose mean is estimated, see `PredictionPowered`.
        power: lambda, from 0 to 1. None: estimated, or 1 if the sample is too small for that.
        confidence: Of both intervals.

    Raises:
        ValueError: no units, a judged unit without an entry of the machine, a value that is not
            finite, a unit without a stratum, or an unknown option.

    The machine's mean is 0.5. People's values are lower: by 0.2 for a, by 0.1 for b.

    >>> result = prediction_powered(
    ...     {"a": 0.4, "b": 0.8, "c": 0.6, "d": 0.2}, {"a": 0.2, "b": 0.7}
    ... )
    >>> round(result.combined.value, 2), round(result.people.value, 2)
    (0.35, 0.45)
    """
    _check(machine, people, strata, population, power, confidence)
    units = sorted(machine)
    judged = [unit for unit in units if unit in people]
    stratum_of = {unit: None if strata is None else strata[unit] for unit in units}
    number_of = {
        stratum: number for number, stratum in enumerate(dict.fromkeys(stratum_of.values()))
    }
    of_units, of_judged = (
        np.array([number_of[stratum_of[unit]] for unit in chosen], dtype=np.int64)
        for chosen in (units, judged)
    )
    sample = _Sample(
        strata=of_judged,
        sizes=np.bincount(of_units, minlength=len(number_of)),
        judged=np.bincount(of_judged, minlength=len(number_of)),
        machine_of_all=_Terms.of(machine, units),
        machine=_Terms.of(machine, judged),
        people=_Terms.of(people, judged),
        population=population,
        confidence=confidence,
    )
    return _estimate(sample, power)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelStratum:
    """The labels of a stratum, of which people judged a drawn sample.

    Attributes:
        size: How many labels there are.
        relevant: How many of them are relevant according to the machine.
        judged: Of each judged label, whether it is relevant according to the machine and to people.
    """

    size: int
    relevant: int
    judged: Sequence[tuple[bool, bool]]


def share_of_relevant(
    strata: Sequence[LabelStratum], *, confidence: float = CONFIDENCE
) -> PredictionPowered:
    """Estimate the share of labels that are relevant to people, as `prediction_powered` does.

    A million labels take no longer than the judged ones, because the others are only counted.

    Raises:
        ValueError: no labels, or more relevant or judged ones than there are.

    The machine finds 2 of 4 labels relevant. People judged one of these, which they do not find
    relevant, and one other, on which they agree.

    >>> labels = LabelStratum(size=4, relevant=2, judged=[(True, False), (False, False)])
    >>> share_of_relevant([labels]).combined.value
    0.0
    """
    filled = [stratum for stratum in strata if stratum.size]
    if not filled:
        raise ValueError("there are no labels")
    for stratum in filled:
        judged_relevant = sum(machine for machine, _people in stratum.judged)
        judged_other = len(stratum.judged) - judged_relevant
        other = stratum.size - stratum.relevant
        if not (judged_relevant <= stratum.relevant and judged_other <= other):
            raise ValueError(f"more labels were judged than there are: {stratum}")
    # Sorted, so that the order in which they were read does not change the last digit.
    judged = [label for stratum in filled for label in sorted(stratum.judged)]
    sizes = np.array([stratum.size for stratum in filled], dtype=np.int64)
    numbers = np.array([len(stratum.judged) for stratum in filled], dtype=np.int64)
    relevant = sum(stratum.relevant for stratum in filled)
    sample = _Sample(
        strata=np.repeat(np.arange(len(filled)), numbers),
        sizes=sizes,
        judged=numbers,
        machine_of_all=_Terms.of_units(np.repeat([1.0, 0.0], [relevant, sizes.sum() - relevant])),
        machine=_Terms.of_units(np.array([float(machine) for machine, _people in judged])),
        people=_Terms.of_units(np.array([float(people) for _machine, people in judged])),
        population="these units",
        confidence=confidence,
    )
    return _estimate(sample, None)


def _estimate(sample: _Sample, power: float | None) -> PredictionPowered:
    """Estimate the mean in both ways; lambda is tuned, or 1, if `power` is None."""
    alone = combined = Estimate(note=sample.shortage)
    tuned = power is None and not sample.shortage and sample.degrees >= FEWEST_TO_TUNE
    if not sample.shortage:
        alone = combined = sample.estimate(0.0)
        if alone.value is not None:
            if power is None:
                power = sample.slope(alone.value) if tuned else 1.0
            combined = sample.estimate(power, tuned=tuned)
    return PredictionPowered(
        combined=combined,
        people=alone,
        machine=sample.machine_of_all.mean(),
        units=int(sample.sizes.sum()),
        judged=len(sample.strata),
        strata=len(sample.sizes),
        power=None if combined.value is None else power,
        tuned=tuned,
        population=sample.population,
        confidence=sample.confidence,
    )


@dataclass(frozen=True)
class _Terms:
    """The values of units, and whether they count in the mean (1 or 0); both 0 if not."""

    values: Floats
    counts: Floats

    @classmethod
    def of(cls, values: Values, units: list[str]) -> _Terms:
        chosen = [values[unit] for unit in units]
        return cls(
            np.array([0.0 if value is None else value for value in chosen]),
            np.array([0.0 if value is None else 1.0 for value in chosen]),
        )

    @classmethod
    def of_units(cls, values: Floats) -> _Terms:
        """Return the terms of units that all count."""
        return cls(values, np.ones(len(values)))

    def mean(self) -> float | None:
        return float(self.values.sum() / self.counts.sum()) if self.counts.any() else None

    def around(self, mean: float) -> Floats:
        """Return how far the values are from a mean; 0 for units that do not count."""
        return np.asarray(self.values - mean * self.counts)


@dataclass(frozen=True)
class _Sample:
    """The judged units, and how they were drawn.

    Attributes:
        strata: Shape (n,), the number of the stratum of each judged unit.
        sizes: Shape (H,), N_h.
        judged: Shape (H,), n_h.
        machine_of_all: The machine's terms of all N units.
        machine: The machine's terms of the judged units.
        people: People's terms of the judged units.
        population: As in `PredictionPowered`.
        confidence: As in `PredictionPowered`.
    """

    strata: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]
    judged: npt.NDArray[np.int64]
    machine_of_all: _Terms
    machine: _Terms
    people: _Terms
    population: Population
    confidence: float

    @property
    def shortage(self) -> str:
        """Return why there are too few judged units for an estimate, or ""."""
        short = int(((self.judged < 2) & (self.judged < self.sizes)).sum())
        if short and len(self.sizes) > 1:
            strata = f"{short} of {len(self.sizes)} strata"
            return f"undefined: people judged fewer than 2 units in {strata}"
        if short:
            return f"undefined: people judged fewer than 2 of {self.sizes.sum():,} units"
        if len(self.strata) < 2 and self.population == "units like these":
            return "undefined: there is only one unit"
        return ""

    @property
    def shares(self) -> Floats:
        return np.asarray(self.sizes / self.sizes.sum())

    @property
    def unjudged(self) -> Floats:
        """Return the share of each stratum that people did not judge."""
        return np.asarray(1 - self.judged / self.sizes)

    @property
    def all_judged(self) -> bool:
        return not self.unjudged.any()

    @property
    def degrees_by_stratum(self) -> Floats:
        """Return the units of each stratum that count according to people, less 1; at least 1."""
        return np.maximum(1, self.by_stratum(self.people.counts) - 1)

    @property
    def degrees(self) -> float:
        """Return Satterthwaite's degrees of freedom if all units count and all strata vary equally.

        0 if people judged all units.
        """
        variances = self.shares**2 * self.unjudged / self.judged
        parts = float((variances**2 / np.maximum(1, self.judged - 1)).sum())
        return float(variances.sum()) ** 2 / parts if parts else 0.0

    def by_stratum(self, values: Floats) -> Floats:
        return np.asarray(np.bincount(self.strata, values, len(self.sizes)))

    def mean(self, values: Floats) -> float:
        """Return the mean over all units as estimated from the sample."""
        return float(self.shares @ (self.by_stratum(values) / self.judged))

    def centred(self, values: Floats) -> Floats:
        return np.asarray(values - (self.by_stratum(values) / self.judged)[self.strata])

    def slope(self, mean: float) -> float:
        """Return the lambda with the least variance, cut to 0 and 1."""
        influence, squares = self.deviations(mean)
        slope = float(influence @ self.people.around(mean)) / squares if squares else 0.0
        return min(1.0, max(0.0, slope))

    def deviations(self, mean: float) -> tuple[Floats, float]:
        """Return the machine's deviations times their part in the variance, and their squares."""
        machine = self.machine.around(mean)
        deviations = self.centred(machine)
        # What rounding leaves of values that are equal within each stratum is no deviation.
        deviations[abs(deviations) < _NO_VARIANCE * (1 + abs(machine).max())] = 0
        parts = self.shares**2 * self.unjudged / self.judged / self.degrees_by_stratum
        influence = np.asarray(parts[self.strata] * deviations)
        return influence, float(influence @ deviations)

    def estimate(self, power: float, *, tuned: bool = False) -> Estimate:
        """Return the estimate with this lambda, and its interval."""
        counted, total = (
            float(power * of_all.mean() + self.mean(people - power * machine))
            for of_all, machine, people in (
                (self.machine_of_all.counts, self.machine.counts, self.people.counts),
                (self.machine_of_all.values, self.machine.values, self.people.values),
            )
        )
        if counted <= 0:
            return Estimate(
                note="undefined: the estimated share of units that count is not positive"
            )
        value = total / counted
        if self.all_judged and self.population == "these units":
            return Estimate(value=value, interval=Interval(value, value))
        differences = self.weighted_differences(value, power, tuned=tuned)
        variances = (
            self.by_stratum(differences**2) * self.unjudged * (1 + 1 / self.degrees_by_stratum)
        )
        variance, spread = float(variances.sum()), self.spread_of_units(value)
        if math.sqrt(spread if self.all_judged else variance) < _NO_VARIANCE * (1 + abs(value)):
            return Estimate(value=value, note=_no_variance(0 if self.all_judged else power))
        degrees, note = float(self.people.counts.sum()) - 1, ""
        if not self.all_judged:
            lost = int(tuned and power > 0)
            degrees = variance**2 / float((variances**2 / self.degrees_by_stratum).sum()) - lost
            variance *= self.degrees / (self.degrees - lost)
            note = _skew_note(differences[self.unjudged[self.strata] > 0])
        # Rounded first, because a sum of equal parts may be a little less than a whole number.
        reach = quantile((1 + self.confidence) / 2, max(1, int(round(degrees, 6))))
        reach *= math.sqrt(variance + spread) / counted
        return Estimate(value=value, interval=Interval(value - reach, value + reach), note=note)

    def spread_of_units(self, value: float) -> float:
        """Return the variance that comes from drawing the N units from a larger population."""
        if self.population == "these units":
            return 0.0
        counted = float(self.people.counts.sum())
        squares = self.mean(self.people.around(value) ** 2) * (1 + 1 / max(1, counted - 1))
        return squares / len(self.machine_of_all.values)

    def weighted_differences(self, value: float, power: float, *, tuned: bool) -> Floats:
        """Return what each judged unit adds to the error of the estimate."""
        weights = (self.shares / self.judged)[self.strata]
        influence, squares = self.deviations(value)
        if tuned and power > 0 and squares:
            machine = self.machine.around(value)
            shift = float(self.machine_of_all.around(value).mean()) - self.mean(machine)
            weights = weights + shift / squares * influence
        differences = self.people.around(value) - power * self.machine.around(value)
        return np.asarray(weights * self.centred(differences))


def _no_variance(power: float) -> str:
    if not power:
        return "no interval: people's values do not differ within the sample"
    return "no interval: people differ from the machine by the same amount on every judged unit"


def _skew_note(differences: Floats) -> str:
    """Return a remark if the sample is small for how skewed its differences are, or ""."""
    squares = float((differences**2).mean())
    skewness = float((differences**3).mean()) / squares**1.5
    needed = math.ceil(SKEW_FACTOR * skewness**2)
    if needed <= len(differences):
        return ""
    return (
        "people judged few units for differences as skewed as these: by Cochran's rule the "
        f"interval needs {needed:,} to hold as often as it says"
    )


def _check(
    machine: Values,
    people: Values,
    strata: Mapping[str, Hashable] | None,
    population: str,
    power: float | None,
    confidence: float,
) -> None:
    if not machine:
        raise ValueError("there are no units")
    for unit in people:
        if unit not in machine:
            raise ValueError(f"people judged {unit!r}, for which the machine has no entry")
    for unit, value in (*machine.items(), *people.items()):
        if value is not None and not math.isfinite(value):
            raise ValueError(f"the value of {unit!r} is {value}, which is not a finite number")
    for unit in machine:
        if strata is not None and unit not in strata:
            raise ValueError(f"{unit!r} has no stratum")
    if population not in get_args(Population):
        raise ValueError(f"{population!r} is not a population; take one of {get_args(Population)}")
    if power is not None and not 0 <= power <= 1:
        raise ValueError(f"the power must be from 0 to 1, not {power}")
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence must be between 0 and 1, not {confidence}")
