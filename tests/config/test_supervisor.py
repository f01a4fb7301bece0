"""The supervisor in its own process, with small test programs."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from config.supervisor import is_port_free
from tests.services.processes import running, wait_until

pytestmark = pytest.mark.long

# Listens and prints its process id; at SIGTERM it prints a last line and exits.
LISTENER = """
import os, signal, socket, sys
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
def leave(*_):
    # Not print: the signal may come in the middle of the one below.
    os.write(1, b"listener leaves %d\\n" % os.getpid())
    os._exit(0)
signal.signal(signal.SIGTERM, leave)
print("listener", os.getpid(), flush=True)
while True:
    server.accept()[0].close()
"""
# Ignores SIGTERM.
STUBBORN = """
import os, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("stubborn", os.getpid(), flush=True)
while True:
    signal.pause()
"""
SUPERVISED = """
import sys
from pathlib import Path
from config.supervisor import Program, Supervisor
port, *programs = sys.argv[1:]
supervisor = Supervisor(
    [Program(name, [sys.executable, "-c", code, port])
     for name, code in zip(("web", "worker"), programs)],
    cwd=Path.cwd(), write=lambda line: print(line, flush=True),
)
supervisor.run(host="127.0.0.1", port=int(port), on_ready=lambda: print("READY", flush=True))
print("OVER", flush=True)
"""


@pytest.fixture
def port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        free = server.getsockname()[1]
    return int(free)


@pytest.fixture
def supervise(tmp_path, port):
    """Return a function that starts a supervisor, and returns its process and its output."""
    with contextlib.ExitStack() as stack:

        def start(*programs):
            log = tmp_path / "log"
            argv = [sys.executable, "-c", SUPERVISED, str(port), *map(textwrap.dedent, programs)]
            process = stack.enter_context(
                running(argv, log=log, cwd=Path(settings.BASE_DIR), patience=30)
            )
            return process, lambda: log.read_text(encoding="utf-8").splitlines()

        yield start


def process_ids(lines, word):
    """Return the ids of processes that printed `word`, in order."""
    return [int(line.split()[1]) for line in lines if re.fullmatch(rf"{word} \d+", line)]


def is_alive(process):
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, 0)
        return True
    return False


def test_programs_write_to_the_same_output_and_readiness_is_reported_once(supervise):
    process, output = supervise(
        LISTENER, "print('one job done', flush=True); import signal; signal.pause()"
    )

    wait_until(lambda: "READY" in output(), "readiness", process=process)
    wait_until(lambda: "one job done" in output(), "a line of the worker", process=process)

    assert len(process_ids(output(), "listener")) == 1
    assert output().count("READY") == 1


def test_a_program_that_ends_is_restarted(supervise):
    process, output = supervise(LISTENER, "import signal; signal.pause()")
    wait_until(lambda: "READY" in output(), "readiness", process=process)

    os.kill(process_ids(output(), "listener")[0], signal.SIGKILL)

    wait_until(
        lambda: len(process_ids(output(), "listener")) == 2, "a second start", process=process
    )
    assert "The web ended with SIGKILL; starting again in 2 s" in output()
    assert output().count("READY") == 1


def test_pauses_grow_for_a_program_that_keeps_ending(supervise):
    _, output = supervise(LISTENER, "raise SystemExit(3)")

    wait_until(
        lambda: "The worker ended with code 3; starting again in 4 s" in output(),
        "two ends",
        seconds=20,
    )

    ends = [line for line in output() if "ended" in line]
    assert ends[0] == "The worker ended with code 3; starting again in 2 s"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_lets_every_program_finish_and_stops_all(supervise, number):
    process, output = supervise(LISTENER, LISTENER.replace("int(sys.argv[1])", "0"))
    wait_until(lambda: "READY" in output(), "readiness", process=process)
    wait_until(lambda: len(process_ids(output(), "listener")) == 2, "both", process=process)
    started = process_ids(output(), "listener")

    process.send_signal(number)

    assert process.wait(timeout=20) == 0
    assert output()[-1] == "OVER"
    last_words = [int(line.split()[-1]) for line in output() if "leaves" in line]
    assert sorted(last_words) == sorted(started), output()
    assert not any(is_alive(pid) for pid in started)


def test_a_second_signal_kills_programs_that_do_not_stop(supervise):
    process, output = supervise(LISTENER, STUBBORN)
    wait_until(lambda: "READY" in output(), "readiness", process=process)
    wait_until(lambda: process_ids(output(), "stubborn"), "the stubborn one", process=process)

    process.send_signal(signal.SIGINT)
    wait_until(lambda: "Stopping. Press Ctrl-C again to stop at once." in output(), "the first")
    process.send_signal(signal.SIGINT)

    assert process.wait(timeout=10) == 0
    assert not is_alive(process_ids(output(), "stubborn")[0])


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends children with their parent")
def test_a_killed_supervisor_ends_all_its_programs(supervise):
    process, output = supervise(LISTENER, STUBBORN)
    wait_until(lambda: "READY" in output(), "readiness", process=process)
    wait_until(lambda: process_ids(output(), "stubborn"), "the stubborn one", process=process)
    children = process_ids(output(), "listener") + process_ids(output(), "stubborn")

    process.kill()
    process.wait()

    wait_until(lambda: not any(is_alive(pid) for pid in children), "the children to end")


def test_a_port_in_use_is_detected():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        taken = is_port_free("127.0.0.1", port)

    assert not taken
    assert is_port_free("127.0.0.1", port)


def test_a_taken_port_is_refused_with_a_sentence(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        done = subprocess.run(
            [sys.executable, "manage.py", "serve", "--port", str(port)],
            cwd=Path(settings.BASE_DIR),
            env={
                **os.environ,
                "DJANGO_SETTINGS_MODULE": "config.settings",
                "REJUDGE_DATA": str(tmp_path),
            },
            capture_output=True,
            text=True,
        )

    assert done.returncode == 1
    assert done.stderr == (
        f"CommandError: Port {port} is in use. Choose another: manage.py serve --port {port + 1}\n"
    )


def test_an_address_that_this_machine_does_not_have_is_refused_in_a_sentence():
    with pytest.raises(CommandError, match=r"This machine cannot listen at 192\.0\.2\.1"):
        call_command("serve", "--host", "192.0.2.1")


def test_a_port_that_the_account_may_not_use_is_refused_with_another_one(monkeypatch):
    def refuse(host, port):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("config.management.commands.serve.is_port_free", refuse)

    with pytest.raises(CommandError, match=r"Choose one above 1023: manage\.py serve --port 8000"):
        call_command("serve", "--port", "80")
