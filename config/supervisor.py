"""Running several programs as one: started together, restarted when they end, stopped together.

Everything happens in one thread. Forking from a process that has others may deadlock the child, and
the kernel ends a child (`die_with`) when the thread that started it ends.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, NamedTuple

from config.parent_process import die_with

# A program that ends sooner than this after its start is given time before the next start.
STABLE = 10.0
LONGEST_PAUSE = 30.0
# How long programs may take to finish what they are at, before they are ended.
PATIENCE = 20.0


class Program(NamedTuple):
    """What is run: the word its lines begin with, and its command line."""

    name: str
    argv: list[str]


class Supervisor:
    """Runs `programs` until told to stop, and writes their lines, each with its program's name.

    SIGINT and SIGTERM stop them: each program's main process gets one SIGTERM and may finish; a
    second signal, or `PATIENCE`, ends them.
    """

    def __init__(
        self,
        programs: list[Program],
        *,
        cwd: Path,
        write: Callable[[str], object],
        env: dict[str, str],
    ) -> None:
        width = max(len(program.name) for program in programs)
        self._children = [_Child(program, width, cwd, env) for program in programs]
        self._write = write
        self._selector = selectors.DefaultSelector()
        self._signals = 0

    def run(self, *, host: str, port: int, on_ready: Callable[[], object]) -> None:
        """Run until stopped; call `on_ready` once, when something first listens there."""
        ready = False
        with self._listening_for_signals():
            while not self._signals:
                for child in self._children:
                    if child.process is None and time.monotonic() >= child.start_at:
                        child.start(self._selector)
                self._look(0.05 if not ready else 0.5)
                for child in self._children:
                    self._restart_later(child)
                if not ready and _listens(host, port):
                    ready = True
                    on_ready()
            self._stop()

    def _restart_later(self, child: _Child) -> None:
        if child.process is None or child.process.poll() is None:
            return
        code = child.process.returncode
        child.ended(self._selector, self._write)
        pause = child.pause()
        self._write(f"{child.prefix}ended with {_described(code)}; starting again in {pause:.0f} s")

    def _stop(self) -> None:
        """Ask every program to finish, then see to it that it has."""
        self._write("Stopping. Press Ctrl-C again to stop at once.")
        running = [child for child in self._children if child.process is not None]
        for child in running:
            child.send(signal.SIGTERM)
        deadline = time.monotonic() + PATIENCE
        while any(child.is_running for child in running):
            self._look(0.1)
            if self._signals > 1 or time.monotonic() > deadline:
                # Their own children go with them: each asked the kernel for it.
                for child in running:
                    child.send(signal.SIGKILL)
                break
        for child in running:
            child.ended(self._selector, self._write)

    def _look(self, seconds: float) -> None:
        """Write the lines that have come; return at the latest after `seconds`, or at a signal."""
        for key, _ in self._selector.select(seconds):
            if isinstance(key.data, _Child):
                key.data.read(self._selector, self._write)
            else:
                os.read(key.fd, 512)

    @contextlib.contextmanager
    def _listening_for_signals(self) -> Iterator[None]:
        # The handler only counts; the byte it leaves in the pipe wakes the selector.
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        os.set_blocking(writer, False)
        self._selector.register(reader, selectors.EVENT_READ)
        wakeup_before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        before = {
            number: signal.signal(number, self._count) for number in (signal.SIGINT, signal.SIGTERM)
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(wakeup_before)
            self._selector.close()
            os.close(reader)
            os.close(writer)

    def _count(self, *_: object) -> None:
        self._signals += 1


class _Child:
    """One program: its process, if it runs, and what is known of its starts."""

    def __init__(self, program: Program, width: int, cwd: Path, env: dict[str, str]) -> None:
        self.prefix = f"{program.name:{width}} | "
        self.process: subprocess.Popen[bytes] | None = None
        self.start_at = 0.0
        self._program = program
        self._cwd = cwd
        self._env = env
        self._started = 0.0
        self._quick_ends = 0
        self._rest = b""

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def start(self, selector: selectors.BaseSelector) -> None:
        supervisor = os.getpid()
        self._started = time.monotonic()
        self.process = subprocess.Popen(
            self._program.argv,
            cwd=self._cwd,
            env=self._env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            # Ctrl-C reaches the supervisor only, which tells each main process once.
            start_new_session=True,
            preexec_fn=lambda: die_with(supervisor),
        )
        os.set_blocking(self._output.fileno(), False)
        selector.register(self._output, selectors.EVENT_READ, self)

    def read(self, selector: selectors.BaseSelector, write: Callable[[str], object]) -> None:
        """Write the whole lines that have come."""
        with contextlib.suppress(BlockingIOError):
            while block := os.read(self._output.fileno(), 65_536):
                *lines, self._rest = (self._rest + block).split(b"\n")
                for line in lines:
                    if line.strip():
                        write(self.prefix + line.decode(errors="replace").rstrip())
            # It has closed its output; it will be seen to have ended.
            selector.unregister(self._output)

    def ended(self, selector: selectors.BaseSelector, write: Callable[[str], object]) -> None:
        """Take in that the process is over, with its last lines."""
        if self.process is None:
            return
        self.process.wait()
        if self._output.fileno() in selector.get_map():
            self.read(selector, write)
        if self._output.fileno() in selector.get_map():
            # A process of its own still holds the other end.
            selector.unregister(self._output)
        if self._rest:
            write(self.prefix + self._rest.decode(errors="replace"))
        self._rest = b""
        self._output.close()
        self.process = None

    def pause(self) -> float:
        """Return how many seconds to wait before the next start, and wait no less."""
        lived = time.monotonic() - self._started
        self._quick_ends = 0 if lived > STABLE else self._quick_ends + 1
        seconds = min(2.0**self._quick_ends, LONGEST_PAUSE) if self._quick_ends else 0.0
        self.start_at = time.monotonic() + seconds
        return seconds

    def send(self, number: signal.Signals) -> None:
        if self.process is not None:
            self.process.send_signal(number)

    @property
    def _output(self) -> IO[bytes]:
        assert self.process is not None
        assert self.process.stdout is not None
        return self.process.stdout


def port_is_free(host: str, port: int) -> bool:
    """Say whether a server could listen at `host` and `port` now."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        # As the web server does it: connections of a former one that linger do not count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
            probe.listen()
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return False
            raise
    return True


def _listens(host: str, port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection((host, port), timeout=0.2):
        return True
    return False


def _described(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"code {code}"


def main(told: int) -> None:
    """Supervise what is told, as JSON, through the open file `told`: programs, host, port and the
    lines of a greeting.
    """
    with os.fdopen(told) as pipe:
        plan = json.load(pipe)

    def write(line: str) -> None:
        print(line, flush=True)

    supervisor = Supervisor(
        [Program(*program) for program in plan["programs"]],
        cwd=Path.cwd(),
        env=dict(os.environ),
        write=write,
    )
    supervisor.run(
        host=plan["host"], port=plan["port"], on_ready=lambda: write("\n".join(plan["greeting"]))
    )
    write("Stopped. Everything is kept.")


if __name__ == "__main__":
    main(int(sys.argv[1]))
