"""The worker: `python -m config.worker JOBS [--beside-the-web] [--hostname NAME]`.

It starts the same worker as `celery worker`. Celery's command line also loads an interactive shell,
which takes 12 MB in a process that never uses it.
"""

from __future__ import annotations

import argparse
import sys

from config.celery import app, start_schedule


def main() -> int:
    """Run the worker until it is stopped, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("jobs", type=int, help="number of jobs at once")
    parser.add_argument(
        "--beside-the-web",
        action="store_true",
        help="run jobs in threads, and the schedule as well",
    )
    parser.add_argument("--hostname", help="the name of the worker")
    options = parser.parse_args()
    worker = app.Worker(
        hostname=options.hostname,
        concurrency=options.jobs,
        loglevel="INFO",
        quiet=True,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
        pool="threads" if options.beside_the_web else None,
    )
    if options.beside_the_web:
        start_schedule()
    worker.start()
    return int(worker.exitcode or 0)


if __name__ == "__main__":
    sys.exit(main())
