"""Speed of agreement coefficients compared with four libraries, and of intervals with a loop.

    python -m benchmarks.agreement [--units 1000 100000 1000000] [--raters 2 5 10]
                                   [--categories 2 3 5] [--limit 20]

Simulates raters who know the truth of a unit in 70% of the cases, with 10% of the ratings
missing, and prints JSON: for every size and coefficient the best time of several calls, of
`agreement` and of scikit-learn, statsmodels, krippendorff and irrCAC if they define the same
coefficient, on the same matrix of units x raters, in turns. The time of a library, as ours,
includes preparing the matrix (leaving out missing ratings, counting raters per category).

- statsmodels and scikit-learn do not support missing ratings. For two raters they get the units
  that both judged; for more, it is the mean over all pairs. Fleiss' kappa of statsmodels needs
  equal numbers of raters, so it is compared on the same table before ratings are removed (`Fleiss'
  kappa, complete`).
- irrCAC gets the units with two or more ratings, because it counts single ratings differently.
- `interval_ms` is the value with a 95% interval from 10,000 resamples; `loop_s` is a plain loop
  that draws the units of every resample and calls the fastest library (`agreement` if there is
  none). The loop is timed on `loop_resamples` resamples and scaled to 10,000.
- `memory_mb` is the peak memory beyond the input while the value and its interval are computed.
- A library that would take longer than --limit seconds, judging by the size before, is not run and
  has `null`.

Other work on the machine makes everything slower; `load_before` is the load average.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
import tracemalloc
import warnings
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from itertools import combinations
from typing import Any, NamedTuple

import krippendorff
import numpy as np
import pandas as pd
from irrCAC.raw import CAC
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats import inter_rater

from agreement import (
    Coefficient,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    percent_agreement,
    scott_pi,
)
from agreement.alpha import Level
from agreement.planning import simulate_ratings

KNOWING = 0.7
MISSING = 0.1
RESAMPLES = 10_000
SEED = 20
# By size: the number of calls, of which the best counts, and the resamples of the plain loop.
CALLS = {1_000: 30, 100_000: 7, 1_000_000: 3}
LOOP = {1_000: 50, 100_000: 5, 1_000_000: 2}

Table = Any
Library = Callable[[Table, int], float]


class Measured(NamedTuple):
    """A coefficient and the libraries that define the same one.

    Attributes:
        ours: Takes a matrix and the options of every coefficient.
        libraries: Take the same matrix and the number of categories; return the value.
        complete: Whether it is compared on a table without missing ratings.
        most_raters: The largest number of raters for which it is defined, or worth computing.
    """

    ours: Callable[..., Coefficient]
    libraries: dict[str, Library]
    complete: bool = False
    most_raters: int = 99


def main() -> None:
    """Measure every size and print the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--units", type=int, nargs="+", default=[1_000, 100_000, 1_000_000])
    parser.add_argument("--raters", type=int, nargs="+", default=[2, 5, 10])
    parser.add_argument("--categories", type=int, nargs="+", default=[2, 3, 5])
    parser.add_argument("--limit", type=float, default=20.0, help="seconds for one library's call")
    options = parser.parse_args()
    load = os.getloadavg()
    rows = [
        row
        for raters in options.raters
        for categories in options.categories
        for row in _by_size(options.units, raters, categories, options.limit)
    ]
    names = ("numpy", "scikit-learn", "statsmodels", "krippendorff", "irrCAC")
    print(
        json.dumps(
            {
                "load_before": [round(one, 2) for one in load],
                "load_after": [round(one, 2) for one in os.getloadavg()],
                "processors": os.cpu_count(),
                "python": platform.python_version(),
                "versions": {name: version(name) for name in names},
                "missing": MISSING,
                "resamples": RESAMPLES,
                "goals": _goals(rows),
                "rows": rows,
            },
            indent=2,
        )
    )


def _by_size(sizes: list[int], raters: int, categories: int, limit: float) -> list[dict[str, Any]]:
    rows = []
    # The time of each library's call at the size before, to estimate the next one.
    took: dict[tuple[str, str], tuple[int, float]] = {}
    for units in sorted(sizes):
        rng = np.random.default_rng(SEED)
        complete = simulate_ratings(
            units, np.full(categories, 1 / categories), KNOWING, raters, 0.0, rng
        )
        missing = complete.copy()
        missing[rng.random(missing.shape) < MISSING] = np.nan
        for name, measured in MEASURED.items():
            if raters > measured.most_raters:
                continue
            table = complete if measured.complete else missing
            where = {"units": units, "raters": raters, "categories": categories}
            rows.append(
                where | {"coefficient": name} | _row(name, measured, table, categories, took, limit)
            )
    return rows


def _row(
    name: str,
    measured: Measured,
    table: Table,
    categories: int,
    took: dict[tuple[str, str], tuple[int, float]],
    limit: float,
) -> dict[str, Any]:
    units = len(table)
    ours = partial(measured.ours, categories=range(categories))
    calls: dict[str, Callable[[], Any]] = {"agreement": lambda: ours(table).value}
    libraries: dict[str, float | None] = {}
    for library, compute in measured.libraries.items():
        before, seconds = took.get((name, library), (units, 0.0))
        if seconds * units / before > limit:
            libraries[library] = None
        else:
            calls[library] = partial(compute, table, categories)
    best, values = _in_turns(calls, CALLS.get(units, 5))
    for library in measured.libraries:
        if library in best:
            libraries[library] = best[library]
            took[name, library] = units, best[library]
    timed = {library: seconds for library, seconds in libraries.items() if seconds is not None}
    fastest = min(timed, key=timed.__getitem__) if timed else None
    with_interval, interval = _interval(ours, table)
    loop = measured.libraries[fastest] if fastest else _ours(ours)
    count = LOOP.get(units, 3)
    return {
        "value": values["agreement"],
        "furthest_library": max(
            (abs(values[one] - values["agreement"]) for one in timed), default=None
        ),
        "ms": _ms(best["agreement"]),
        "libraries_ms": {one: None if t is None else _ms(t) for one, t in libraries.items()},
        "fastest_library": fastest,
        "times_faster": round(timed[fastest] / best["agreement"], 1) if fastest else None,
        "interval_ms": _ms(with_interval),
        "interval": interval,
        "loop_s": round(_loop(loop, table, categories, count) * RESAMPLES / count, 1),
        "loop_resamples": count,
        "memory_mb": _memory(ours, table),
    }


def _ours(ours: Callable[..., Coefficient]) -> Library:
    def value(table: Table, _: int) -> float:
        found = ours(table).value
        return float("nan") if found is None else found

    return value


def _in_turns(
    calls: dict[str, Callable[[], Any]], rounds: int
) -> tuple[dict[str, float], dict[str, Any]]:
    """Return the best time and the value of each call; a call that takes seconds is made once."""
    best: dict[str, float] = {}
    values: dict[str, Any] = {}
    for _ in range(rounds):
        for name, call in calls.items():
            if best.get(name, 0) > 2:
                continue
            began = time.perf_counter()
            values[name] = call()
            best[name] = min(best.get(name, np.inf), time.perf_counter() - began)
    return best, values


def _interval(ours: Callable[..., Coefficient], table: Table) -> tuple[float, list[float] | None]:
    best, found = np.inf, None
    for _ in range(2):
        began = time.perf_counter()
        found = ours(table, interval="bootstrap", resamples=RESAMPLES, seed=SEED)
        best = min(best, time.perf_counter() - began)
        if best > 5:
            break
    interval = found.interval if found else None
    return best, None if interval is None else [round(limit, 6) for limit in interval]


def _loop(compute: Library, table: Table, categories: int, resamples: int) -> float:
    rng = np.random.default_rng(SEED)
    began = time.perf_counter()
    for _ in range(resamples):
        compute(table[rng.integers(0, len(table), len(table))], categories)
    return time.perf_counter() - began


def _memory(ours: Callable[..., Coefficient], table: Table) -> float:
    tracemalloc.start()
    ours(table, interval="bootstrap", resamples=RESAMPLES, seed=SEED)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return round(peak / 1e6, 1)


def _ms(seconds: float) -> float:
    return round(1_000 * seconds, 3)


def _goals(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return how the results compare with the goals."""
    slower = [
        {key: row[key] for key in ("units", "raters", "categories", "coefficient", "times_faster")}
        for row in rows
        if row["times_faster"] is not None and row["times_faster"] < 1
    ]
    with_interval = [
        {
            "raters": row["raters"],
            "categories": row["categories"],
            "coefficient": row["coefficient"],
            "interval_ms": row["interval_ms"],
            "library_value_alone_ms": row["libraries_ms"][library],
        }
        for row in rows
        for library in ("krippendorff", "statsmodels")
        if row["units"] == 1_000_000
        and row["raters"] == 5
        and row["libraries_ms"].get(library) is not None
        and ("alpha" in row["coefficient"] or "Fleiss" in row["coefficient"])
    ]
    return {
        "slower_than_the_fastest_library": slower,
        "interval_at_a_million_by_five_beside_the_value_alone": with_interval,
        "most_memory_mb": max(row["memory_mb"] for row in rows),
    }


def _both(table: Table, first: int, second: int) -> Table:
    two = table[:, [first, second]]
    return two[~np.isnan(two).any(axis=1)].astype(np.int64)


def _over_pairs(of_two: Library) -> Library:
    def mean(table: Table, categories: int) -> float:
        pairs = combinations(range(table.shape[1]), 2)
        return float(np.mean([of_two(_both(table, *pair), categories) for pair in pairs]))

    return mean


def _sklearn(weights: str | None) -> Library:
    return _over_pairs(
        lambda two, categories: cohen_kappa_score(
            two[:, 0], two[:, 1], labels=np.arange(categories), weights=weights
        )
    )


def _statsmodels_cohen(weights: str | None) -> Library:
    return _over_pairs(
        lambda two, categories: inter_rater.cohens_kappa(
            inter_rater.to_table(two, bins=categories)[0], wt=weights, return_results=False
        )
    )


def _statsmodels_fleiss(table: Table, categories: int) -> float:
    counts, _ = inter_rater.aggregate_raters(table.astype(np.int64), n_cat=categories)
    return float(inter_rater.fleiss_kappa(counts))


def _krippendorff(level: Level) -> Library:
    def alpha(table: Table, categories: int) -> float:
        return float(
            krippendorff.alpha(
                reliability_data=table.T,
                value_domain=np.arange(categories),
                level_of_measurement=level,
            )
        )

    return alpha


def _irrcac(method: str, weights: str = "identity") -> Library:
    def value(table: Table, categories: int) -> float:
        judged = table[(~np.isnan(table)).sum(axis=1) >= 2]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = CAC(
                pd.DataFrame(judged), weights=weights, categories=list(range(categories)), digits=15
            )
            return float(getattr(found, method)()["est"]["coefficient_value"])

    return value


MEASURED = {
    "percent agreement": Measured(percent_agreement, {}),
    "Scott's pi": Measured(scott_pi, {"irrCAC": _irrcac("fleiss")}, most_raters=2),
    "Cohen's kappa": Measured(
        cohen_kappa, {"scikit-learn": _sklearn(None), "statsmodels": _statsmodels_cohen(None)}
    ),
    "Cohen's kappa, quadratic": Measured(
        partial(cohen_kappa, weights="quadratic"),
        {"scikit-learn": _sklearn("quadratic"), "statsmodels": _statsmodels_cohen("quadratic")},
    ),
    "Fleiss' kappa": Measured(fleiss_kappa, {"irrCAC": _irrcac("fleiss")}),
    "Fleiss' kappa, complete": Measured(
        fleiss_kappa, {"statsmodels": _statsmodels_fleiss}, complete=True
    ),
    "Gwet's AC1": Measured(gwet_ac, {"irrCAC": _irrcac("gwet")}),
    "Gwet's AC2, linear": Measured(
        partial(gwet_ac, weights="linear"), {"irrCAC": _irrcac("gwet", "linear")}
    ),
    "Krippendorff's alpha, nominal": Measured(
        krippendorff_alpha, {"krippendorff": _krippendorff("nominal")}
    ),
    "Krippendorff's alpha, ordinal": Measured(
        partial(krippendorff_alpha, level="ordinal"), {"krippendorff": _krippendorff("ordinal")}
    ),
    "Krippendorff's alpha, interval": Measured(
        partial(krippendorff_alpha, level="interval"), {"krippendorff": _krippendorff("interval")}
    ),
}

if __name__ == "__main__":
    main()
