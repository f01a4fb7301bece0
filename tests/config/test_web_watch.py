"""The main process of the web server waits for its web processes and replaces them if one ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.services.processes import wait_until

ROOT = Path(__file__).parents[2]

# Starts three processes that sleep, and watches them: two that serve, and one that is to end.
# `again` prints what it was given.
LAUNCH = """
import signal, subprocess, sys
from config import web_watch

signal.pthread_sigmask(signal.SIG_BLOCK, web_watch.SIGNALS)
def unblock():
    signal.pthread_sigmask(signal.SIG_UNBLOCK, web_watch.SIGNALS)
sleep = [sys.executable, "-S", "-c", "import time; time.sleep(600)"]
pids = [subprocess.Popen(sleep, stdout=-3, stderr=-3, preexec_fn=unblock).pid for _ in range(3)]
print(*pids, flush=True)
web_watch.STABLE = float(sys.argv[1])
again = [sys.executable, "-S", "-c", "import sys; print('again', *sys.argv[1:])"]
sys.exit(web_watch.main(again, set(pids[:2]), set(pids[2:])))
"""

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="it waits for signals as Linux does"
)


class Watch:
    """A running watch and the processes it watches."""

    def __init__(self, stable: float) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", LAUNCH, str(stable)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.first, self.second, self.leaving = map(int, self.process.stdout.readline().split())

    def runs(self, process: int) -> bool:
        """Whether a process is there, and not only its entry in the kernel's table."""
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return False
        return state != "Z"

    def end(self) -> tuple[int, str]:
        """Wait for the end of the watch; return its exit code and what it printed."""
        printed, _ = self.process.communicate(timeout=60)
        return self.process.returncode, printed.strip()


@pytest.fixture
def watched(request) -> Iterator[Watch]:
    watch = Watch(request.param)
    yield watch
    for process in (watch.process.pid, watch.first, watch.second, watch.leaving):
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            continue
    watch.process.communicate()


@pytest.mark.parametrize("watched", [0.0], indirect=True)
def test_the_watch_ends_the_processes_that_were_replaced(watched):
    wait_until(lambda: not watched.runs(watched.leaving), "the end of the replaced process")

    assert watched.runs(watched.first)
    assert watched.runs(watched.second)


@pytest.mark.parametrize("watched", [0.0], indirect=True)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_to_stop_ends_every_process(watched, number):
    watched.process.send_signal(number)

    assert watched.end() == (0, "")
    assert not any(map(watched.runs, (watched.first, watched.second, watched.leaving)))


@pytest.mark.parametrize("watched", [0.0], indirect=True)
def test_others_are_started_if_a_web_process_ends_and_the_rest_serves_until_then(watched):
    wait_until(lambda: not watched.runs(watched.leaving), "the end of the replaced process")
    os.kill(watched.first, signal.SIGKILL)

    assert watched.end() == (0, f"again --leaving {watched.second}")
    assert watched.runs(watched.second)


@pytest.mark.parametrize("watched", [600.0], indirect=True)
def test_the_server_ends_if_a_web_process_ends_at_once(watched):
    os.kill(watched.first, signal.SIGKILL)

    assert watched.end() == (1, "")
    assert not watched.runs(watched.second)
