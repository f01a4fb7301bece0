"""Starting a real server that never outlives the test run."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from config.supervisor import die_with


def binaries(package: str, folder: str) -> Path:
    """Return the folder of programs inside an installed package, without importing it."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError(f"{package} is not installed. Run bin/setup --dev.")
    return Path(spec.submodule_search_locations[0]) / folder


@contextlib.contextmanager
def short_folder(name: str) -> Iterator[Path]:
    """Make a folder with a short name for sockets, whose paths have at most 107 bytes."""
    folder = Path(tempfile.mkdtemp(prefix=f"rj-{name}-", dir="/tmp"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def running(
    argv: list[str],
    *,
    log: Path,
    env: dict[str, str] | None = None,
    cwd: Path | None = None,
    stop: signal.Signals = signal.SIGTERM,
    patience: float = 20,
) -> Iterator[subprocess.Popen[bytes]]:
    """Run `argv` with its output in `log`; at the end stop it, and kill it if it does not."""
    parent = os.getpid()
    with log.open("wb") as output:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=env,
            cwd=cwd,
            start_new_session=True,
            preexec_fn=lambda: die_with(parent),
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(stop)
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_until(
    condition: Callable[[], object],
    what: str,
    *,
    seconds: float = 30,
    process: subprocess.Popen[bytes] | None = None,
    log: Path | None = None,
) -> None:
    """Return as soon as `condition()` is true; fail with `what` and the log's end if it never is.

    It polls, because the condition depends on another process.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        ended = process is not None and process.poll() is not None
        if ended or time.monotonic() > deadline:
            reason = f"it ended with {process.returncode}" if ended and process else f"{seconds} s"
            tail = log.read_text(errors="replace")[-4_000:] if log else ""
            raise AssertionError(f"waited in vain for {what} ({reason})\n{tail}")
        time.sleep(0.02)
