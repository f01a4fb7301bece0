"""Cost of the mean kappa over all pairs of people, as a team grows.

    python -m benchmarks.team [--people 10 25 50 100] [--judgments 40000] [--interval bootstrap]

Simulates people who know the grade of a document in 70% of the cases and guess the rest; three
people, drawn anew for each document, judge it, so that all pairs of people share documents. Prints
JSON: for every size, the value, its 95% interval, the pairs with a value, and what a process of its
own used: `processor_s` of all threads together, and `memory_mb`, its peak. `import_mb` is the peak
of a process that only imports the package. `growth` divides the figures of each size by those of
the size before, `pairs` as well.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
from itertools import pairwise
from typing import Any

GRADES, KNOWING, OVERLAP, SEED = 4, 0.7, 3, 20


def main() -> None:
    """Measure every size in a process of its own and print the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--people", type=int, nargs="+", default=[10, 25, 50, 100])
    parser.add_argument("--judgments", type=int, default=40_000)
    parser.add_argument("--interval", default="bootstrap", help="or bca, analytic")
    parser.add_argument("--alone", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone is not None:
        print(json.dumps(measure(options.alone, options.judgments, options.interval)))
        return
    empty, *rows = (
        _in_own_process(people, options.judgments, options.interval)
        for people in (0, *sorted(options.people))
    )
    result = {
        "load": [round(one, 2) for one in os.getloadavg()],
        "processors": os.cpu_count(),
        "python": platform.python_version(),
        "judgments": options.judgments,
        "interval": options.interval,
        "import_mb": empty["memory_mb"],
        "rows": rows,
        "growth": [
            {
                key: round(after[key] / before[key], 1)
                for key in ("people", "pairs", "processor_s", "memory_mb")
            }
            for before, after in pairwise(rows)
        ],
    }
    print(json.dumps(result, indent=2))


def _in_own_process(people: int, judgments: int, interval: str) -> dict[str, Any]:
    words = ["--alone", str(people), "--judgments", str(judgments), "--interval", interval]
    command = [sys.executable, "-m", "benchmarks.team", *words]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def measure(people: int, judgments: int, interval: Any) -> dict[str, Any]:
    """Return the mean kappa over the pairs of so many people, and what it cost this process."""
    from agreement import Ratings, by_pair, cohen_kappa

    found: dict[str, Any] = {"people": people}
    if people:
        table = simulate_team(people, judgments)
        before = _processor_seconds()
        ratings = Ratings.from_matrix(table, categories=range(GRADES))
        mean = cohen_kappa(ratings, interval=interval)
        pairs = [one.agreement.value for one in by_pair(ratings)]
        found |= {
            "pairs": sum(value is not None for value in pairs),
            "value": mean.value,
            "standard_error": mean.standard_error,
            "interval": mean.interval,
            "note": mean.interval_note,
            "processor_s": round(_processor_seconds() - before, 2),
        }
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return found | {"memory_mb": round(peak / 1_024)}


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def simulate_team(people: int, judgments: int) -> Any:
    """Return grades of documents by people, shape (judgments / 3, people); nan for none."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    documents = judgments // OVERLAP
    who = rng.random((documents, people)).argsort(axis=1)[:, :OVERLAP]
    truth = rng.choice(GRADES, size=(documents, 1), p=[0.5, 0.25, 0.15, 0.1])
    guesses = rng.integers(GRADES, size=who.shape)
    table = np.full((documents, people), np.nan)
    judged = np.where(rng.random(who.shape) < KNOWING, truth, guesses)
    np.put_along_axis(table, who, judged, axis=1)
    return table


if __name__ == "__main__":
    main()
