"""Running several programs together: they start together, restart when they end, stop together."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

# In seconds: how often the programs are looked at.
INTERVAL = 0.1
# A program that ends sooner than this, in seconds, is restarted only after a pause.
STABLE = 10.0
LONGEST_PAUSE = 30.0
# How many seconds programs may take to finish before they are killed.
PATIENCE = 20.0

_PR_SET_PDEATHSIG = 1
# Loaded once, before any fork: a forked child should call as little as it can.
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


class Program(NamedTuple):
    """A program to run: its name and its command line."""

    name: str
    argv: list[str]


class Supervisor:
    """Runs `programs` in the folder `cwd` until stopped, and reports what happens to them.

    SIGINT and SIGTERM stop them: each program's main process gets one SIGTERM and may finish. After
    a second signal, or after `PATIENCE` seconds, they are killed.
    """

    def __init__(
        self, programs: Sequence[Program], *, cwd: Path, write: Callable[[str], object]
    ) -> None:
        self._children = [_Child(program, cwd, write) for program in programs]
        self._write = write
        self._signals = 0

    def run(self, *, host: str, port: int, on_ready: Callable[[], object]) -> None:
        """Run until stopped; call `on_ready` once, when a server listens at `host` and `port`."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._count_signal)
        ready = False
        while not self._signals:
            for child in self._children:
                child.keep_running()
            if not ready and _is_listening(host, port):
                ready = True
                on_ready()
            time.sleep(INTERVAL)
        self._stop()

    def _stop(self) -> None:
        """Ask every program to finish; kill those that do not."""
        self._write("Stopping. Press Ctrl-C again to stop at once.")
        for child in self._children:
            child.send(signal.SIGTERM)
        deadline = time.monotonic() + PATIENCE
        while any(child.is_running for child in self._children):
            if self._signals > 1 or time.monotonic() > deadline:
                # Their children end with them: each has asked the kernel for it (`die_with`).
                for child in self._children:
                    child.send(signal.SIGKILL)
            time.sleep(INTERVAL)

    def _count_signal(self, *_: object) -> None:
        self._signals += 1


class _Child:
    """One program: its process, if it runs, and when it started and starts next."""

    def __init__(self, program: Program, cwd: Path, write: Callable[[str], object]) -> None:
        self._program, self._cwd, self._write = program, cwd, write
        self._process: subprocess.Popen[bytes] | None = None
        self._started = self._start_at = 0.0
        self._quick_ends = 0

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def keep_running(self) -> None:
        """Start the program if it is time to; if it has ended, schedule its next start."""
        if self._process is None:
            if time.monotonic() >= self._start_at:
                self._start()
        elif (code := self._process.poll()) is not None:
            self._process = None
            pause = self._schedule_start()
            self._write(
                f"The {self._program.name} ended with {_describe_exit(code)}; "
                f"starting again in {pause:.0f} s"
            )

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the program's main process, if it runs."""
        if self._process is not None:
            self._process.send_signal(number)

    def _start(self) -> None:
        supervisor = os.getpid()
        self._started = time.monotonic()
        self._process = subprocess.Popen(
            self._program.argv,
            cwd=self._cwd,
            stdin=subprocess.DEVNULL,
            # Ctrl-C only reaches the supervisor, which signals each main process once.
            start_new_session=True,
            preexec_fn=lambda: die_with(supervisor),
        )

    def _schedule_start(self) -> float:
        """Schedule the next start, and return how many seconds away it is."""
        lived = time.monotonic() - self._started
        self._quick_ends = 0 if lived > STABLE else self._quick_ends + 1
        pause = min(2.0**self._quick_ends, LONGEST_PAUSE) if self._quick_ends else 0.0
        self._start_at = time.monotonic() + pause
        return pause


def is_port_free(host: str, port: int) -> bool:
    """Return whether a server could listen at `host` and `port` now."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        # As the web server does: lingering connections of a former server do not count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
            probe.listen()
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return False
            raise
    return True


def _is_listening(host: str, port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection((host, port), timeout=0.2):
        return True
    return False


def _describe_exit(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"code {code}"


def main(plan_fd: int) -> None:
    """Supervise the programs of a plan, read as JSON from the file descriptor `plan_fd`."""
    with os.fdopen(plan_fd) as pipe:
        plan = json.load(pipe)

    def write(line: str) -> None:
        print(line, flush=True)

    programs = [Program(*program) for program in plan["programs"]]
    Supervisor(programs, cwd=Path.cwd(), write=write).run(
        host=plan["host"], port=plan["port"], on_ready=lambda: write("\n".join(plan["greeting"]))
    )
    write("Stopped. Everything is kept.")


def die_with(parent: int) -> None:
    """Ask the kernel to kill this process when its parent process, `parent`, ends.

    On Linux only: elsewhere, the children of a killed supervisor have to be stopped by hand.
    """
    if _libc is None:
        return
    if _libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG)")
    if os.getppid() != parent:
        # The parent ended before the call to the kernel.
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(int(sys.argv[1]))
