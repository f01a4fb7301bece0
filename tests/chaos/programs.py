"""Runs Rejudge in the storm: `python -m tests.chaos.programs PLAN`.

The programs are those that `manage.py serve` supervises, or those of the containers, with the same
supervisor instead of the container runtime. PLAN is a JSON file with the port, and for each program
its name and command line.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from config.supervisor import Program, Supervisor


def main(plan: Path) -> None:
    """Run until stopped."""
    plan_content = json.loads(plan.read_text())

    def write(line: str) -> None:
        print(line, flush=True)

    supervisor = Supervisor(
        [Program(*program) for program in plan_content["programs"]],
        cwd=Path.cwd(),
        write=write,
    )
    supervisor.run(host="127.0.0.1", port=plan_content["port"], on_ready=lambda: write("READY"))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
