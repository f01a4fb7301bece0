"""Options, steps, a database and a running server of benchmarks, and the server's memory."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from config.supervisor import die_with

PATIENCE = 60.0
DATABASES = ("sqlite", "postgresql")
Steps = Mapping[str, Callable[[argparse.Namespace], Any]]


def parse_options(parser: argparse.ArgumentParser, steps: Steps) -> argparse.Namespace:
    """Return the options of a benchmark; in a process of `run_step`, run its step and exit."""
    parser.add_argument("--step", choices=list(steps), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        print(json.dumps(steps[options.step](options)))
        sys.exit()
    return options


def add_databases(parser: argparse.ArgumentParser) -> None:
    """Add the option that chooses databases."""
    parser.add_argument("--database", choices=DATABASES, action="append", help="only this one")


def measure_databases(
    figures: dict[str, Any],
    measure: Callable[[str, argparse.Namespace], Any],
    options: argparse.Namespace,
) -> None:
    """Measure on each chosen database in turn, and print JSON: `figures`, then each database."""
    for database in options.database or DATABASES:
        figures[database] = measure(database, options)
    print(json.dumps(figures, indent=2))


def run_step(step: str, *arguments: object, env: dict[str, str]) -> Any:
    """Run one step of this benchmark in its own process, and return the JSON that it printed.

    It gets the options of this process, and `arguments`, which take precedence.
    """
    spec = sys.modules["__main__"].__spec__
    assert spec is not None
    command = [sys.executable, "-m", spec.name, *sys.argv[1:], "--step", step]
    done = subprocess.run(
        [*command, *map(str, arguments)], env=env, check=True, stdout=subprocess.PIPE
    )
    return json.loads(done.stdout)


@contextlib.contextmanager
def installation(
    database: str, *, durable: bool = False, settings: Mapping[str, str] | None = None
) -> Iterator[tuple[dict[str, str], Path]]:
    """Yield the environment variables of an installation with a new database, and its data folder.

    PostgreSQL is set for speed, as in tests; if `durable`, it waits for the disk at each commit.
    `settings` are further ones of PostgreSQL.
    """
    with (
        tempfile.TemporaryDirectory() as folder,
        _new_database(database, durable, settings or {}) as url,
    ):
        env = {**os.environ, "REJUDGE_DATA": folder, "DATABASE_URL": url}
        yield {**env, "DJANGO_SETTINGS_MODULE": "config.settings"}, Path(folder)


@contextlib.contextmanager
def _new_database(name: str, durable: bool, settings: Mapping[str, str]) -> Iterator[str]:
    if name == "sqlite":
        yield ""
        return
    from tests.services.postgres import postgres

    if durable:
        safe = dict.fromkeys(("fsync", "synchronous_commit", "full_page_writes"), "on")
        with postgres(**safe, autovacuum="on", **settings) as url:
            yield url
        return
    with postgres(**settings) as url:
        # Use the server's default database.
        yield url.rpartition("/")[0] + "/postgres"


def set_up(*, migrate: bool = False) -> None:
    """Load Django's settings and models; with `migrate`, also make the tables."""
    import django

    django.setup()
    if migrate:
        from django.core.management import call_command

        call_command("migrate", verbosity=0)


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
        names = {"config.web": "web", "config.worker": "worker"}
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
