"""The web server's main process while it serves.

    python -S -m config.web_watch AGAIN SERVING LEAVING

`config.web` becomes this once the web processes run. They share its memory at first, but each page
of memory that a web process writes to becomes a copy, so the main process would soon be the only
user of a third of what it loaded. This program loads nothing.

If a web process ends, it becomes `config.web` again (the command `AGAIN`), which starts new web
processes; the others serve until the new ones do. All arguments are JSON: a command, the process
ids of the web processes that serve, and of those that are to end.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time

STOP = {signal.SIGTERM, signal.SIGINT}
# Blocked from the start of the web processes on: none may get lost between two programs.
SIGNALS = STOP | {signal.SIGCHLD}
# In seconds: how long a web process may take to finish what it is answering.
PATIENCE = 10
# In seconds: a web process that ends sooner would do so again.
STABLE = 5.0


def main(again: list[str], serving: set[int], leaving: set[int]) -> int:
    """Wait until told to stop and return the exit code, or until a web process ends."""
    started = time.monotonic()
    for process in leaving:
        _send(process, signal.SIGTERM)
    deadline = started + PATIENCE
    while True:
        received = signal.sigtimedwait(SIGNALS, 1.0)
        ended = _reap()
        leaving -= ended
        if leaving and time.monotonic() > deadline:
            for process in leaving:
                _send(process, signal.SIGKILL)
        if received is not None and received.si_signo in STOP:
            _stop(serving - ended | leaving)
            return 0
        if failed := serving & ended:
            names = ", ".join(map(str, sorted(failed)))
            print(f"Web process {names} ended; starting others", file=sys.stderr, flush=True)
            others = serving - ended | leaving
            if time.monotonic() - started < STABLE:
                _stop(others)
                return 1
            os.execv(again[0], [*again, "--leaving", *map(str, sorted(others))])


def _stop(processes: set[int]) -> None:
    """Let processes finish what they are answering, and end those that do not."""
    for process in processes:
        _send(process, signal.SIGTERM)
    deadline = time.monotonic() + PATIENCE
    while processes and time.monotonic() < deadline:
        signal.sigtimedwait({signal.SIGCHLD}, 0.1)
        processes -= _reap()
    for process in processes:
        _send(process, signal.SIGKILL)


def _reap() -> set[int]:
    """Return the children that have ended since."""
    ended = set()
    with contextlib.suppress(ChildProcessError):
        while (process := os.waitpid(-1, os.WNOHANG)[0]) != 0:
            ended.add(process)
    return ended


def _send(process: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, number)


if __name__ == "__main__":
    command, serving_now, leaving_now = map(json.loads, sys.argv[1:])
    sys.exit(main(command, set(serving_now), set(leaving_now)))
