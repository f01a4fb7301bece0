"""A chaos test over a whole installation: what tests/chaos does for a minute, for any time.

    python -m benchmarks.chaos [--database sqlite|postgresql] [--minutes 10] [--seed 1]
                               [--people 20] [--pace 0.5] [--lines 20000]

People judge, load and export while processes are killed, services are stopped and started, the
disk fills and clocks jump. Then the responses they got are compared with the stored data. Each
storm has its own seed. Prints a line of JSON for each storm, and their sums at the end; stops at
the first difference, with the log of the programs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections import Counter
from typing import Any

# How long one storm lasts, in seconds; then everything is compared, and the next one starts empty.
STORM_SECONDS = 120.0
COUNTED = ("pressed", "acknowledged", "found", "jobs", "requests", "unanswered", "sent_again")


def main() -> None:
    """Run one storm after the other, on each database in turn."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--database", choices=["sqlite", "postgresql"], action="append")
    parser.add_argument("--minutes", type=float, default=10.0, help="in all (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the first (%(default)s)")
    parser.add_argument("--people", type=int, default=20, help="annotators (%(default)s)")
    parser.add_argument("--pace", type=float, default=0.5, help="seconds to a key (%(default)s)")
    parser.add_argument("--lines", type=int, default=20_000, help="of each file (%(default)s)")
    options = parser.parse_args()
    databases = options.database or ["sqlite", "postgresql"]
    until = time.monotonic() + 60 * options.minutes
    number = 0
    sums: dict[str, Any] = {"storms": 0, "survived": Counter(), **dict.fromkeys(COUNTED, 0)}
    while number < len(databases) or time.monotonic() < until:
        database = databases[number % len(databases)]
        command = [sys.executable, "-m", "tests.chaos.storm", database]
        for name, value in (
            ("seed", options.seed + number // len(databases)),
            ("seconds", min(STORM_SECONDS, 60 * options.minutes / len(databases))),
            ("people", options.people),
            ("pace", options.pace),
            ("lines", options.lines),
        ):
            command += [f"--{name}", str(value)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit(f"{' '.join(command)}\n{done.stdout}")
        found = json.loads(done.stdout)
        print(json.dumps(found), flush=True)
        sums["storms"] += 1
        sums["survived"] += Counter(found["survived"])
        for name in COUNTED:
            sums[name] += found[name]
        number += 1
    # "In the middle of a job" says when a fault happened; it is not another fault.
    faults = sum(sums["survived"].values()) - sums["survived"]["in the middle of a job"]
    print(json.dumps({**sums, "faults": faults}, indent=2))


if __name__ == "__main__":
    main()
