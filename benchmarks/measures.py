"""Speed of every measure with intervals on 20 systems, each compared with the first.

For comparison, it also measures ir_measures' time for nDCG on the same runs.

python -m benchmarks.measures [--queries 250] [--documents 1000] [--systems 20]
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable
from typing import Any

import ir_measures

from measures import (
    Measurement,
    Scores,
    compare,
    flip_rate,
    irs,
    m_sicr,
    m_wise,
    mdcr,
    nfr,
    p_mrr,
    robustness,
    sicr,
    win_rate,
    wise,
)

Run = dict[str, dict[str, float]]
Qrels = dict[str, dict[str, int]]
DIMENSIONS = ("audience", "format", "length")


def make_random_run(rng: random.Random, queries: int, documents: int) -> Run:
    """Return a run with random scores."""
    return {
        f"q{query}": {f"d{document}": rng.random() for document in range(documents)}
        for query in range(queries)
    }


def all_measures(
    original: Run, changed: Run, reverse: Run, before: Qrels, after: Qrels
) -> dict[str, Callable[[], Measurement]]:
    """Return each measure on one system, from three runs that are prepared once."""
    og, new, rev = Scores(original), Scores(changed), Scores(reverse)
    gold = dict.fromkeys(original, "d0")
    modes: Any = {"original": og, "instructed": new, "reversed": rev, "gold": gold}
    comply = {query: [d for d, grade in its.items() if grade] for query, its in after.items()}
    violate = {
        query: [d for d, grade in its.items() if grade and not after[query][d]]
        for query, its in before.items()
    }
    sides: Any = {"with_instruction": new, "without": og}
    ladders = [
        {query: {k: its[f"d{k}"] for k in range(11)} for query, its in run.items()}
        for run in (original, changed)
    ]
    verdicts = {
        query: {d: dict.fromkeys(DIMENSIONS, grade > 0) for d, grade in its.items()}
        for query, its in after.items()
    }
    return {
        "p-MRR": lambda: p_mrr(
            original=og, changed=new, qrels_original=before, qrels_changed=after
        ),
        "WISE": lambda: wise(**modes),
        "SICR": lambda: sicr(**modes),
        "mWISE": lambda: m_wise(
            **modes, satisfied=dict.fromkeys(gold, 2), conditions=dict.fromkeys(gold, 3)
        ),
        "mSICR": lambda: m_sicr(**modes),
        "MDCR strict": lambda: mdcr(
            run=new, verdicts=verdicts, dimensions=dict.fromkeys(gold, DIMENSIONS)
        ),
        "MDCR soft": lambda: mdcr(
            run=new, verdicts=verdicts, dimensions=dict.fromkeys(gold, DIMENSIONS), kind="soft"
        ),
        "IRS": lambda: irs(**sides, positive=comply, violating=violate, tables=100_000),
        "NFR": lambda: nfr(**sides, trap=violate, tables=100_000),
        "win rate": lambda: win_rate(ladders[0]),
        "flip rate": lambda: flip_rate(instruction=ladders[0], descriptive=ladders[1]),
        "Robustness": lambda: robustness(
            {query: its["d0"] for query, its in original.items()},
            {query: f"core {number // 3}" for number, query in enumerate(original)},
        ),
    }


def main() -> None:
    """Print the processor time of each measure, and of nDCG@10 by ir_measures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=250)
    parser.add_argument("--documents", type=int, default=1_000)
    parser.add_argument("--systems", type=int, default=20)
    given = parser.parse_args()
    rng = random.Random(17)
    judged = range(min(100, given.documents))
    queries = [f"q{query}" for query in range(given.queries)]
    before = {q: {f"d{d}": int(rng.random() < 0.3) for d in judged} for q in queries}
    after = {
        q: {d: grade if rng.random() < 0.5 else 0 for d, grade in its.items()}
        for q, its in before.items()
    }
    seconds: dict[str, float] = {}
    first: dict[str, Measurement] = {}
    for _ in range(given.systems):
        original, changed, reverse = (
            make_random_run(rng, given.queries, given.documents) for _ in range(3)
        )
        began = time.process_time()
        measures = all_measures(original, changed, reverse, before, after)
        seconds["reading"] = seconds.get("reading", 0) + time.process_time() - began
        for name, measure in measures.items():
            began = time.process_time()
            found = measure()
            seconds[name] = seconds.get(name, 0) + time.process_time() - began
            began = time.process_time()
            compare(found, first.setdefault(name, found))
            seconds["compared"] = seconds.get("compared", 0) + time.process_time() - began
        began = time.process_time()
        ir_measures.calc_aggregate([ir_measures.nDCG @ 10], before, original)
        seconds["nDCG"] = seconds.get("nDCG", 0) + time.process_time() - began
    of_ir_measures = seconds.pop("nDCG")
    print(f"{given.systems} systems, {given.queries} queries x {given.documents} documents")
    for name, spent in seconds.items():
        print(f"  {name:12} {spent:7.2f} s")
    print(f"  {'all':12} {sum(seconds.values()):7.2f} s")
    print(f"ir_measures nDCG@10, one run a system: {of_ir_measures:.2f} s")


if __name__ == "__main__":
    main()
