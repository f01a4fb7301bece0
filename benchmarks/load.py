"""Speed of judging on a busy server: many annotators, large loads and exports at once.

    python -m benchmarks.load [--database sqlite|postgresql] [--seconds 20]
                              [--annotators 8 32 128] [--lines 1000000]

Fills a new database with 10,000 documents in 100 pools and starts the server as people do
(`manage.py serve`: two web processes and a worker) on a free port. A lead uploads one qrels file
after the other (`lines` each, previewed and then loaded) and requests one export after the other.
At the same time annotators without a browser judge, each judgment in its own request:

- `paced`: each presses a key every two seconds, which is fast for people who read;
- `flat_out`: the next key as soon as the judgment before is saved.

Prints JSON. A judgment's time is from its key press to the response that it is saved, including
the retries while the server was too busy (`busy`). `ms` is over all judgments, `ms_while` over
those during each step of a load; `alone` is the same crowd with no other load. Any other response
ends the run. At the end the acknowledged judgments are compared with those in the database: `lost`
is the difference.

`memory_mb` is the PSS of the server's processes over time, by type: its median in each tenth of
the run (in the first ones nothing is loaded yet), and its maximum. `bounds` are upper bounds for
this machine, measured in the same run: the same rows written by the bare driver, one transaction
each; and the sign-in page, which reads nothing. The annotators, the server and the database share
the machine. PostgreSQL waits for the disk at each commit.
"""

from __future__ import annotations

import argparse
import os
import statistics
import threading
import time
from collections import Counter
from typing import Any

from benchmarks import judging
from benchmarks.annotators import Timings, measure
from benchmarks.bare import insert_judgments
from benchmarks.serving import (
    Steps,
    add_databases,
    installation,
    measure_databases,
    memory,
    parse_options,
    quantiles,
    run_step,
    running_server,
)
from tests.chaos.people import Connection, Unanswered

# Keys a second of a person who reads.
PACE = 0.5
# More judgments a second than any server here saves.
MAX_RATE = 600
QUERIES = 250
GOAL_P95_MS = 100
STEPS_OF_A_LOAD = {
    "Reading the file": "reading",
    "Comparing its lines": "comparing",
    "Comparing with the project": "looking_through",
    "Writing to the project": "writing",
}


def main() -> None:
    """Measure on each database in turn."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_databases(parser)
    parser.add_argument("--seconds", type=float, default=20.0, help="of each crowd (%(default)s)")
    parser.add_argument("--annotators", type=int, nargs="+", default=[8, 32, 128])
    parser.add_argument("--lines", type=int, default=1_000_000, help="of each file (%(default)s)")
    options = parse_options(parser, STEPS)
    figures: dict[str, Any] = {
        "cores": os.cpu_count(),
        "lines_of_each_file": options.lines,
        "keys_a_second_of_each": {"paced": PACE},
        "goal": {"judgment_p95_ms_at_32_during_a_load": GOAL_P95_MS, "lost": 0, "errors": 0},
    }
    measure_databases(figures, _measure, options)


def _measure(database: str, options: argparse.Namespace) -> dict[str, Any]:
    crowds, seconds = options.annotators, options.seconds
    found: dict[str, Any] = {"load_before": round(os.getloadavg()[0], 2)}
    with installation(database, durable=True) as (env, folder):
        plan = run_step("fill", env=env)
        with running_server(env, folder) as (process, port):
            acknowledged = len(measure("one_by_one", port, plan["warm"], seconds=2).saving)
            lead = _Lead(port, plan["lead"][0], options.lines)
            watch = _MemoryRecorder(process.pid)
            watch.start()
            for state in ("alone", "busy"):
                if state == "busy":
                    lead.start()
                    lead.load_started.wait(120)
                found[state] = {}
                for way, rate in (("paced", PACE), ("flat_out", 0.0)):
                    found[state][way] = {}
                    for many in crowds:
                        crowd = plan[f"{way} {state} {many}"]
                        seen = measure("at_leisure", port, crowd, seconds=seconds, rate=rate)
                        acknowledged += len(seen.saving)
                        found[state][way][many] = _summary(seen, lead.steps)
            lead.stop_requested.set()
            lead.join(600)
            watch.stop_requested.set()
            watch.join()
            found["lead"] = lead.counts | {"complaints": lead.complaints}
            found["memory_mb"] = watch.summary()
            found["bounds"] = {
                "sign_in_pages_per_second_at_8": round(
                    len((pages := measure("sign_in_page", port, [{}] * 8, seconds=5)).saving)
                    / (pages.ended - pages.begun)
                ),
                "bare_driver": run_step("bare", env=env),
            }
        kept = run_step("count", env=env)
    found |= {"acknowledged": acknowledged, "kept": kept, "lost": acknowledged - kept}
    return found


def _summary(seen: Timings, steps: list[tuple[float, str]]) -> dict[str, Any]:
    summary: dict[str, Any] = {
        "judgments": len(seen.saving),
        "per_second": round(len(seen.saving) / (seen.ended - seen.begun), 1),
        "ms": quantiles([1_000 * one for one in seen.saving]),
        "twenty_documents_ms": quantiles([1_000 * one for one in seen.fetching]),
        "busy": seen.busy,
        # Always 0, because any unexpected response ends the run.
        "errors": 0,
    }
    if steps:
        by_step: dict[str, list[float]] = {}
        for took, at in zip(seen.saving, seen.at, strict=True):
            # A judgment that waited through a step counts for that step, too.
            during = {
                step
                for (start, step), end in zip(
                    steps, [*[one for one, _ in steps[1:]], float("inf")], strict=True
                )
                if start < at and end > at - took
            }
            for step in during:
                by_step.setdefault(step, []).append(1_000 * took)
        summary["ms_while"] = {
            step: {"judgments": len(times), **quantiles(times)} for step, times in by_step.items()
        }
    return summary


class _Lead(threading.Thread):
    """A lead who uploads one file after the other and requests exports, until told to stop."""

    def __init__(self, port: int, who: dict[str, Any], lines: int) -> None:
        super().__init__(daemon=True)
        self.stop_requested, self.load_started = threading.Event(), threading.Event()
        self.counts: Counter[str] = Counter()
        self.complaints: list[str] = []
        # When each step of a load began.
        self.steps: list[tuple[float, str]] = []
        self._wire = Connection(port, who["session"], patience=120)
        self._lines = lines

    def run(self) -> None:
        """Load and export repeatedly at the same time."""
        try:
            number = 0
            while not self.stop_requested.is_set():
                number += 1
                self._load(number)
        except (Unanswered, RuntimeError) as error:
            self.complaints.append(repr(error))
        self.load_started.set()

    def _load(self, number: int) -> None:
        each = max(self._lines // QUERIES, 1)
        text = "".join(
            f"{number}-{query} 0 {number}-{query * 7 % 50}-{line} {line % 3}\n"
            for query in range(QUERIES)
            for line in range(each)
        )
        path = self._wire.upload(
            "/projects/bench/loads/", f"{number}.txt", text.encode(), format="trec-qrels"
        ).location
        del text
        self.load_started.set()
        self._export()
        self._follow(path)
        self.counts["files_looked_through"] += 1
        self._export()
        confirmed = self._wire.form(f"{path}confirmation/")
        if confirmed.status != 302 or confirmed.location == path:
            raise RuntimeError(f"the preview at {path} could not be confirmed")
        self._follow(confirmed.location)
        self.counts["files_loaded"] += 1

    def _export(self) -> None:
        """Request an export, which the worker's other thread makes during the load."""
        if self._wire.form("/projects/bench/exports/", format="trec").status == 302:
            self.counts["exports_asked_for"] += 1

    def _follow(self, path: str) -> None:
        """Record the steps of a job until it is over."""
        while True:
            page = self._wire.ask("GET", path).body.decode()
            now = time.monotonic()
            step = next((short for words, short in STEPS_OF_A_LOAD.items() if words in page), None)
            over = "/cancellation/" not in page
            step = "between" if over or step is None else step
            if not self.steps or self.steps[-1][1] != step:
                self.steps.append((now, step))
            if over:
                if "Failed" in page:
                    raise RuntimeError(f"the job at {path} failed")
                return
            time.sleep(0.1)


class _MemoryRecorder(threading.Thread):
    """Records the server's memory every two seconds."""

    def __init__(self, server: int) -> None:
        super().__init__(daemon=True)
        self.stop_requested = threading.Event()
        self._server = server
        self._seen: list[dict[str, float]] = []

    def run(self) -> None:
        """Record the memory until told to stop."""
        while not self.stop_requested.wait(2):
            try:
                found = memory(self._server)
            except (OSError, KeyError):
                # A process has just ended.
                continue
            by_kind = {kind: float(sum(each)) for kind, each in found["processes"].items()}
            self._seen.append({"all": float(found["pss"]), **by_kind})

    def summary(self) -> dict[str, Any]:
        """Return the median of each tenth of the time, and the maximum, by type of process."""
        tenths = [
            self._seen[len(self._seen) * n // 10 : len(self._seen) * (n + 1) // 10]
            for n in range(10)
        ]
        return {
            kind: {
                "by_tenths": [
                    round(statistics.median(one.get(kind, 0) for one in tenth))
                    for tenth in tenths
                    if tenth
                ],
                "most": round(max(one.get(kind, 0) for one in self._seen)),
            }
            for kind in ("all", "web", "worker")
        }


# --- steps, each in a process of its own ----------------------------------------------------------


def _fill(options: argparse.Namespace) -> dict[str, Any]:
    """Make the project for all crowds of this run."""
    sizes = {"warm": (8, 2), "lead": (1, 0)}
    for many in options.annotators:
        for state in ("alone", "busy"):
            paced = int(PACE * options.seconds / judging.POOL) + 1
            flat_out = int(MAX_RATE * options.seconds / many / judging.POOL) + 1
            sizes[f"paced {state} {many}"] = (many, paced)
            sizes[f"flat_out {state} {many}"] = (many, flat_out)
    return judging.fill(sizes)


STEPS: Steps = {
    "fill": _fill,
    "bare": lambda options: insert_judgments(options.seconds),
    "count": lambda _: judging.count_judgments(),
}


if __name__ == "__main__":
    main()
