"""Running several programs together: they start together, restart when they end, stop together.

Everything happens in one thread. Forking from a process with several threads may deadlock the
child, and the kernel kills a child (`die_with`) when the thread that started it ends.
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

# A program that ends sooner than this, in seconds, is restarted only after a pause.
STABLE = 10.0
LONGEST_PAUSE = 30.0
# How many seconds programs may take to finish before they are killed.
PATIENCE = 20.0


class Program(NamedTuple):
    """A program to run: its name, which starts each of its output lines, and its command line."""

    name: str
    argv: list[str]


class Supervisor:
    """Runs `programs` until stopped, and writes their output lines with each program's name.

    SIGINT and SIGTERM stop them: each program's main process gets one SIGTERM and may finish. After
    a second signal, or after `PATIENCE` seconds, they are killed.
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
        """Run until stopped; call `on_ready` once, when a server listens at `host` and `port`."""
        ready = False
        with self._listening_for_signals():
            while not self._signals:
                for child in self._children:
                    if child.process is None and time.monotonic() >= child.start_at:
                        child.start(self._selector)
                self._write_lines(0.05 if not ready else 0.5)
                for child in self._children:
                    self._restart_later(child)
                if not ready and _is_listening(host, port):
                    ready = True
                    on_ready()
            self._stop()

    def _restart_later(self, child: _Child) -> None:
        if child.process is None or child.process.poll() is None:
            return
        code = child.process.returncode
        child.finish(self._selector, self._write)
        pause = child.schedule_restart()
        self._write(
            f"{child.prefix}ended with {_describe_exit(code)}; starting again in {pause:.0f} s"
        )

    def _stop(self) -> None:
        """Ask every program to finish; kill those that do not."""
        self._write("Stopping. Press Ctrl-C again to stop at once.")
        running = [child for child in self._children if child.process is not None]
        for child in running:
            child.send(signal.SIGTERM)
        deadline = time.monotonic() + PATIENCE
        while any(child.is_running for child in running):
            self._write_lines(0.1)
            if self._signals > 1 or time.monotonic() > deadline:
                # Their children end with them: each has asked the kernel for it (`die_with`).
                for child in running:
                    child.send(signal.SIGKILL)
                break
        for child in running:
            child.finish(self._selector, self._write)

    def _write_lines(self, seconds: float) -> None:
        """Write arriving lines; return at a signal, or after `seconds` at the latest."""
        for key, _ in self._selector.select(seconds):
            if isinstance(key.data, _Child):
                key.data.read(self._selector, self._write)
            else:
                os.read(key.fd, 512)

    @contextlib.contextmanager
    def _listening_for_signals(self) -> Iterator[None]:
        # The handler only counts; the byte that Python writes to the pipe wakes the selector.
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        os.set_blocking(writer, False)
        self._selector.register(reader, selectors.EVENT_READ)
        wakeup_before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        before = {
            number: signal.signal(number, self._count_signal)
            for number in (signal.SIGINT, signal.SIGTERM)
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

    def _count_signal(self, *_: object) -> None:
        self._signals += 1


class _Child:
    """One program: its process, if it runs, and when it started and starts next."""

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
            # Ctrl-C only reaches the supervisor, which signals each main process once.
            start_new_session=True,
            preexec_fn=lambda: die_with(supervisor),
        )
        os.set_blocking(self._output.fileno(), False)
        selector.register(self._output, selectors.EVENT_READ, self)

    def read(self, selector: selectors.BaseSelector, write: Callable[[str], object]) -> None:
        """Write the complete lines that have arrived."""
        with contextlib.suppress(BlockingIOError):
            while block := os.read(self._output.fileno(), 65_536):
                *lines, self._rest = (self._rest + block).split(b"\n")
                for line in lines:
                    if line.strip():
                        write(self.prefix + line.decode(errors="replace").rstrip())
            # The process has closed its output; `run` will notice that it has ended.
            selector.unregister(self._output)

    def finish(self, selector: selectors.BaseSelector, write: Callable[[str], object]) -> None:
        """Write the last lines of a process that has ended, and forget it."""
        if self.process is None:
            return
        self.process.wait()
        if self._output.fileno() in selector.get_map():
            self.read(selector, write)
        if self._output.fileno() in selector.get_map():
            # A child of the process still holds the other end.
            selector.unregister(self._output)
        if self._rest:
            write(self.prefix + self._rest.decode(errors="replace"))
        self._rest = b""
        self._output.close()
        self.process = None

    def schedule_restart(self) -> float:
        """Schedule the next start, and return how many seconds away it is."""
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
    """Supervise the programs of a plan, read as JSON from the file descriptor `plan_fd`.

    The plan has programs, host, port and the lines of a greeting.
    """
    with os.fdopen(plan_fd) as pipe:
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
