"""Coverage of the 95% intervals of certificates: how often they contain people's mean.

    python -m benchmarks.coverage_of_certificates [--sets 2000] [--settings 0 1 2 ...]

Each setting is a population of queries with documents graded by people and by a machine, and a
system's runs for two narratives. nDCG@10 and p-MRR are computed from both kinds of grades, as for
evaluations; a share of relevant labels has single labels as its units. A set draws N units from the
population and the judged n from these N. Prints JSON: for every setting, measure and population
(see `agreement.prediction_powered`), the percentage of sets whose interval contains the mean of
people's values, the mean width, the number of sets without an interval (left out of the others) and
the percentage whose interval has a remark; the width of the combined intervals divided by that of
people alone; the machine's own mean minus people's; and the mean of lambda. With 2,000 sets a
percentage is off by at most 1 point, 95 times in 100.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from agreement.prediction_powered import (
    Estimate,
    Population,
    PredictionPowered,
    prediction_powered,
)
from exporters.evaluations.system_measures import IrMeasures
from measures import Scores, p_mrr

SEED = 2301
QUERIES = 10_000
LABELS = 100_000
DOCUMENTS = 15
GRADES = 4
# How often a document that was relevant is no longer so after the change.
CHANGING = 0.3

Grades = npt.NDArray[np.int64]
ByUnit = dict[str, float | None]


class Setting(NamedTuple):
    """A population, and how it is drawn from.

    Attributes:
        machine: From people's grades to the machine's. Reads the stratum of each row, too.
        drawn: How many units and how many judged units are drawn of each stratum.
        prevalence: How often people give each grade.
        labels: Whether the units are labels, and not queries.
    """

    machine: Callable[[Grades, Grades, np.random.Generator], Grades]
    drawn: tuple[tuple[int, int], ...] = ((200, 50),)
    prevalence: tuple[float, ...] = (0.5, 0.2, 0.2, 0.1)
    labels: bool = False


def judge_well(grades: Grades, _strata: Grades, rng: np.random.Generator) -> Grades:
    """Return grades of which one in seven is one too high or one too low."""
    steps = rng.choice([-1, 0, 1], grades.shape, p=[0.07, 0.86, 0.07])
    return np.asarray(np.clip(grades + steps, 0, GRADES - 1))


def judge_too_high(grades: Grades, _strata: Grades, rng: np.random.Generator) -> Grades:
    """Return grades of which half are one too high."""
    return np.asarray(np.minimum(grades + rng.integers(0, 2, grades.shape), GRADES - 1))


def judge_blindly(grades: Grades, _strata: Grades, rng: np.random.Generator) -> Grades:
    """Return grades that do not depend on the documents."""
    return rng.integers(0, GRADES, grades.shape)


def reverse_in_the_last_stratum(grades: Grades, strata: Grades, rng: np.random.Generator) -> Grades:
    """Return good grades, but the opposite ones in the last stratum."""
    opposite = (strata == strata.max())[:, np.newaxis]
    return np.where(opposite, GRADES - 1 - grades, judge_well(grades, strata, rng))


SKEWED = (0.92, 0.05, 0.02, 0.01)
SETTINGS = {
    "good model": Setting(judge_well),
    "good model, 100 of 400 judged": Setting(judge_well, ((400, 100),)),
    "model that grades too high": Setting(judge_too_high),
    "useless model": Setting(judge_blindly),
    "opposite grades in one of two strata, 1 in 5 and 1 in 2 judged": Setting(
        reverse_in_the_last_stratum, ((150, 30), (50, 25))
    ),
    "10 of 100 judged": Setting(judge_well, ((100, 10),)),
    "10 of 100 judged, useless model": Setting(judge_blindly, ((100, 10),)),
    "three strata, 4 of 100, 60 and 20 judged": Setting(judge_well, ((100, 4), (60, 4), (20, 4))),
    "skewed grades": Setting(judge_well, prevalence=SKEWED),
    "300 of 5,000 labels, half of them relevant": Setting(judge_well, ((5_000, 300),), labels=True),
    "300 of 5,000 labels, 8% of them relevant": Setting(
        judge_well, ((5_000, 300),), SKEWED, labels=True
    ),
    "100 of 5,000 labels, 1% of them relevant": Setting(
        judge_well, ((5_000, 100),), (0.99, 0.01, 0.0, 0.0), labels=True
    ),
}


def main() -> None:
    """Simulate every setting and print the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", type=int, default=2_000)
    parser.add_argument("--settings", type=int, nargs="+", default=list(range(len(SETTINGS))))
    options = parser.parse_args()
    load = os.getloadavg()
    rows = [
        {
            "setting": name,
            "measure": measure,
            "population": population,
            **_measure_coverage(setting, values, strata, population, options.sets),
        }
        for name, setting in (list(SETTINGS.items())[at] for at in options.settings)
        for strata, by_measure in [_make_population(setting)]
        for measure, values in by_measure.items()
        for population in get_args(Population)
        # Labels of one query are alike, so they are no sample of other labels.
        if not (setting.labels and population == "units like these")
    ]
    print(
        json.dumps(
            {
                "load_before": [round(value, 2) for value in load],
                "sets": options.sets,
                "seed": SEED,
                "rows": rows,
            },
            indent=2,
        )
    )


class Values(NamedTuple):
    """The values of all units of a population, by people's grades and by the machine's."""

    people: ByUnit
    machine: ByUnit


def _make_population(setting: Setting) -> tuple[dict[str, int], dict[str, Values]]:
    """Return the stratum of each unit, and the values of each measure."""
    rng = np.random.default_rng(SEED)
    units, documents = (LABELS, 1) if setting.labels else (QUERIES, DOCUMENTS)
    sizes = np.array([size for size, _ in setting.drawn])
    strata = rng.choice(len(sizes), units, p=sizes / sizes.sum())
    before = rng.choice(GRADES, (units, documents), p=setting.prevalence)
    machine_before = setting.machine(before, strata, rng)
    names = [f"u{number:06d}" for number in range(units)]
    stratum_of = dict(zip(names, strata.tolist(), strict=True))
    if setting.labels:
        people, machine = (
            dict(zip(names, (grades[:, 0] > 0).astype(float).tolist(), strict=True))
            for grades in (before, machine_before)
        )
        return stratum_of, {"share of relevant": Values(people, machine)}
    after = np.where(rng.random(before.shape) < CHANGING, 0, before)
    machine_after = setting.machine(after, strata, rng)
    # The system finds much of what is relevant, and follows the change more or less well.
    original = before + 1.5 * rng.standard_normal(before.shape)
    follows = rng.random((units, 1))
    changed = original + follows * (after - before) + 0.5 * rng.standard_normal(before.shape)
    runs = Runs(_by_query(names, original), _by_query(names, changed))
    people_values, machine_values = (
        _measure(runs, _by_query(names, first), _by_query(names, second))
        for first, second in ((before, after), (machine_before, machine_after))
    )
    return stratum_of, {
        measure: Values(people_values[measure], machine_values[measure])
        for measure in people_values
    }


def _by_query(names: list[str], table: npt.NDArray[Any]) -> dict[str, dict[str, Any]]:
    documents = [f"d{number:02d}" for number in range(table.shape[1])]
    return {
        name: dict(zip(documents, row, strict=True))
        for name, row in zip(names, table.tolist(), strict=True)
    }


class Runs(NamedTuple):
    """The scores of a system under the original and the changed narratives."""

    original: dict[str, dict[str, float]]
    changed: dict[str, dict[str, float]]


def _measure(
    runs: Runs,
    before: dict[str, dict[str, int]],
    after: dict[str, dict[str, int]],
) -> dict[str, ByUnit]:
    """Return the value of each query by measure; None for a query that a measure leaves out."""
    moves = p_mrr(
        original=runs.original,
        changed=runs.changed,
        qrels_original=before,
        qrels_changed=after,
        interval=None,
    )
    ndcg = IrMeasures(["nDCG@10"], after, 1).values(Scores(runs.changed))["nDCG@10"]
    return {
        "nDCG@10": {query: ndcg.get(query, 0.0) for query in before},
        "p-MRR": {query: moves.by_query.get(query) for query in before},
    }


def _measure_coverage(
    setting: Setting,
    values: Values,
    strata: Mapping[str, int],
    population: Population,
    sets: int,
) -> dict[str, Any]:
    rng = np.random.default_rng(SEED)
    of_all = _mean(values.people)
    by_stratum = [
        np.array([unit for unit, its in strata.items() if its == number])
        for number in range(len(setting.drawn))
    ]
    tallies = {"combined": Tally(), "people": Tally()}
    powers, off = [], []
    for _ in range(sets):
        result, people = _draw(setting, values, strata, by_stratum, population, rng)
        truth = of_all if population == "units like these" else _mean(people)
        tallies["combined"].add(result.combined, truth)
        tallies["people"].add(result.people, truth)
        if result.power is not None and result.machine is not None:
            powers.append(result.power)
            off.append(result.machine - truth)
    return {
        **{name: tally.summarise() for name, tally in tallies.items()},
        "width_ratio": round(tallies["combined"].width / tallies["people"].width, 3),
        "machine_off_by": round(float(np.mean(off)), 4),
        "power": round(float(np.mean(powers)), 2),
    }


def _draw(
    setting: Setting,
    values: Values,
    strata: Mapping[str, int],
    by_stratum: list[npt.NDArray[np.str_]],
    population: Population,
    rng: np.random.Generator,
) -> tuple[PredictionPowered, ByUnit]:
    """Return the estimates from one draw, and people's values of all its N units."""
    units: list[str] = []
    judged: list[str] = []
    for stratum, (size, of_judged) in zip(by_stratum, setting.drawn, strict=True):
        chosen = stratum[rng.choice(len(stratum), size, replace=False)].tolist()
        units += chosen
        judged += chosen[:of_judged]
    result = prediction_powered(
        {unit: values.machine[unit] for unit in units},
        {unit: values.people[unit] for unit in judged},
        strata=strata,
        population=population,
    )
    return result, {unit: values.people[unit] for unit in units}


class Tally:
    """Counts intervals that contain the true mean, and adds up their widths."""

    def __init__(self) -> None:
        self.sets = self.without = self.held = self.noted = 0
        self.widths = 0.0

    def add(self, estimate: Estimate, truth: float) -> None:
        """Count one estimate."""
        self.sets += 1
        if estimate.interval is None:
            self.without += 1
            return
        self.held += estimate.interval.low <= truth <= estimate.interval.high
        self.noted += bool(estimate.note)
        self.widths += estimate.interval.high - estimate.interval.low

    @property
    def width(self) -> float:
        """Return the mean width."""
        return self.widths / max(1, self.sets - self.without)

    def summarise(self) -> dict[str, float]:
        """Return percentages of the sets with an interval, the mean width, and sets without."""
        intervals = max(1, self.sets - self.without)
        return {
            "holds": round(100 * self.held / intervals, 2),
            "width": round(self.width, 4),
            "without": self.without,
            "with_remark": round(100 * self.noted / intervals, 1),
        }


def _mean(values: ByUnit) -> float:
    return float(np.mean([value for value in values.values() if value is not None]))


if __name__ == "__main__":
    main()
