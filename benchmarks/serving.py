"""A database and a running server to measure, and the server's memory."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from config.parent_process import die_with

PATIENCE = 60.0


@contextlib.contextmanager
def new_database(name: str) -> Iterator[dict[str, str]]:
    """Yield the environment variables of a new database: "sqlite" or "postgresql"."""
    if name == "sqlite":
        yield {"DATABASE_URL": ""}
        return
    from tests.services.postgres import postgres

    # The settings of a durable server.
    durable = dict.fromkeys(("fsync", "synchronous_commit", "full_page_writes"), "on")
    with postgres(**durable, autovacuum="on") as url:
        yield {"DATABASE_URL": url}


@contextlib.contextmanager
def bare_database(name: str) -> Iterator[dict[str, str]]:
    """Yield the environment variables of a new database that is set for speed, as in tests."""
    if name == "sqlite":
        yield {"DATABASE_URL": ""}
        return
    from tests.services.postgres import postgres

    with postgres() as url:
        # Use the server's default database.
        yield {"DATABASE_URL": url.rpartition("/")[0] + "/postgres"}


def set_up(*, migrate: bool = False) -> None:
    """Load Django's settings and models; with `migrate`, also make the tables."""
    import django

    django.setup()
    if migrate:
        from django.core.management import call_command

        call_command("migrate", verbosity=0)


def run_step(module: str, *arguments: object, env: dict[str, str]) -> Any:
    """Run one step of a benchmark in its own process, and return the JSON that it printed."""
    command = [sys.executable, "-m", module, "--step", *map(str, arguments)]
    done = subprocess.run(command, env=env, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


@contextlib.contextmanager
def running_server(
    env: dict[str, str], folder: Path
) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Start the server as people do; yield its process and port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    parent = os.getpid()
    log = folder / "serve.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "serve", "--port", str(port)],
            cwd=Path(__file__).resolve().parent.parent,
            env=env,
            stdout=output,
            stderr=subprocess.STDOUT,
            preexec_fn=lambda: die_with(parent),
        )
    try:
        deadline = time.monotonic() + PATIENCE
        while b"Rejudge is at" not in log.read_bytes() or b"ready." not in log.read_bytes():
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the server did not start:\n{log.read_text()[-4000:]}")
            time.sleep(0.1)
        yield process, port
    finally:
        process.terminate()
        process.wait(PATIENCE)


def process_tree(root: int) -> dict[int, list[str]]:
    """Return a process and its descendants, with the fields after the name in /proc/PID/stat."""
    stats: dict[int, list[str]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            # The process may have ended.
            with contextlib.suppress(OSError):
                content = (folder / "stat").read_text()
                stats[int(folder.name)] = content.rpartition(")")[2].split()
    found = {root: stats[root]}
    waiting = [root]
    while waiting:
        parent = waiting.pop()
        children = {pid: stat for pid, stat in stats.items() if int(stat[1]) == parent}
        found |= children
        waiting += children
    return found


def processor_seconds(root: int) -> float:
    """Return the processor time, in seconds, of a process and its descendants, ended ones too."""
    ticks = sum(int(one) for stat in process_tree(root).values() for one in stat[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def memory(root: int) -> dict[str, Any]:
    """Return the PSS and RSS in MB of a process and its descendants, by type of process."""
    found: dict[str, Any] = {"pss": 0.0, "rss": 0.0, "processes": {}}
    for pid in process_tree(root):
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
        names = {"granian": "web", "config.web": "web", "config.worker": "worker"}
        kind = next((kind for name, kind in names.items() if name in command), "supervisor")
        amounts = {
            line.split()[0].rstrip(":").lower(): int(line.split()[1]) / 1024
            for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
        }
        found["pss"] += amounts["pss"]
        found["rss"] += amounts["rss"]
        found["processes"].setdefault(kind, []).append(round(amounts["pss"]))
    return {**found, "pss": round(found["pss"]), "rss": round(found["rss"])}


def quantiles(values: Sequence[float]) -> dict[str, float]:
    """Return the median, the 95th and 99th percentiles, and the maximum."""
    ordered = sorted(values)

    def at(share: float) -> float:
        return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 1)

    return {"p50": at(0.5), "p95": at(0.95), "p99": at(0.99), "max": round(ordered[-1], 1)}
