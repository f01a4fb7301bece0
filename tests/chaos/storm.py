"""A chaos test of a whole installation: `python -m tests.chaos.storm sqlite|postgresql`.

People judge, load and export (tests/chaos/people.py) while web and worker processes are killed at
random, the services they use are stopped, killed and started again, the disk fills and clocks jump.
When this storm is over, everyone gets their answers, and the stored data is compared with the
responses they got (tests/chaos/truth.py). Prints JSON; the exit code is 1 if anything differs.

- `sqlite`: the programs of `manage.py serve`, the embedded database and broker.
- `postgresql`: PostgreSQL and Redis; a web server, two workers with processes, and beat, as in the
  containers. PostgreSQL waits for the operating system but not for the disk, because only
  processes are killed here.

All data is on a small disk of its own: a tmpfs that this process mounts so that only its children
see it (`main` restarts itself in its own namespace). Where that is not allowed, processes instead
may not extend any file for a while (RLIMIT_FSIZE), which has the same effect on writers.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.serving import process_tree, quantiles
from config.management.commands.serve import beat_command, web_command, worker_command
from config.supervisor import die_with
from tests.chaos.people import Annotator, Lead, Person, combine_diaries
from tests.services.postgres import Postgres
from tests.services.processes import wait_until
from tests.services.redis import RedisServer

ROOT = Path(__file__).resolve().parent.parent.parent
# Enough for the data, and quickly filled.
DISK_MB = {"sqlite": 160, "postgresql": 400}
# Waits for the operating system only: processes are killed here, not the machine.
DURABLE = {"synchronous_commit": "on", "max_wal_size": "48MB", "min_wal_size": "32MB"}
HOUR = 3_600


class Installation:
    """Rejudge on one database, with all faults that can be injected."""

    def __init__(self, database: str, folder: Path, seed: int) -> None:
        self._folder, self._disk = folder, folder / "disk"
        self._clocks = folder / "clocks"
        self._random = random.Random(seed)
        self._stack = contextlib.ExitStack()
        self._programs: subprocess.Popen[bytes] | None = None
        self.done: Counter[str] = Counter()
        # Set while the lead sees a job running.
        self.work = threading.Event()
        self._clocks.mkdir()
        (self._disk / "tmp").mkdir()
        self.mounted = os.path.ismount(self._disk)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.env = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "tests.chaos.settings",
            "REJUDGE_DATA": str(self._disk / "data"),
            "REJUDGE_TEST_CLOCKS": str(self._clocks),
            "TMPDIR": str(self._disk / "tmp"),
            "REJUDGE_SUPERVISED": "1",
            "PYTHONUNBUFFERED": "1",
            "PYTHONWARNINGS": "ignore",
            "CELERY_SKIP_CHECKS": "1",
            "DATABASE_URL": "",
            "REDIS_URL": "",
        }
        web = web_command("127.0.0.1", self.port)
        self.postgres: Postgres | None = None
        self.redis: RedisServer | None = None
        if database == "sqlite":
            self._plan = [("web", web), ("web", web), ("worker", worker_command(2))]
        else:
            self.postgres = Postgres(folder, self._disk / "pg", **DURABLE)
            self.redis = RedisServer(folder)
            self.env |= {"DATABASE_URL": self.postgres.url, "REDIS_URL": self.redis.url}
            workers = [
                (f"worker{n}", [*worker_command(1, schedule=False), "--hostname", f"w{n}@storm"])
                for n in (1, 2)
            ]
            self._plan = [("web", web), *workers, ("beat", beat_command())]

    def begin(self, people: int) -> dict[str, Any]:
        """Start everything on an empty database; return the people with their sessions."""
        if self.postgres and self.redis:
            self.postgres.make()
            self.redis.start()
        plan: dict[str, Any] = self.step("fill", str(people))
        (self._folder / "plan").write_text(json.dumps({"port": self.port, "programs": self._plan}))
        self.start_programs()
        return plan

    def step(self, *what: str) -> Any:
        """Run a step of tests/chaos/truth.py."""
        done = subprocess.run(
            [sys.executable, "-m", "tests.chaos.truth", *what],
            cwd=ROOT,
            env=self.env,
            stdout=subprocess.PIPE,
            check=True,
        )
        return json.loads(done.stdout)

    def start_programs(self) -> None:
        """Start the web server and the workers under their supervisor."""
        parent = os.getpid()
        with (self._folder / "programs").open("ab") as log:
            self._programs = subprocess.Popen(
                [sys.executable, "-m", "tests.chaos.programs", str(self._folder / "plan")],
                cwd=ROOT,
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=lambda: die_with(parent),
            )
        wait_until(self.listens, "the web server", log=self._folder / "programs", seconds=60)

    def end(self) -> None:
        """Stop everything."""
        if self._programs is not None and self._programs.poll() is None:
            self._programs.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._programs.wait(30)
            self._programs.kill()
            self._programs.wait()
        for service in (self.redis, self.postgres):
            if service:
                service.stop()

    def log(self) -> str:
        """Return the output of the programs."""
        return (self._folder / "programs").read_text(errors="replace")

    # --- faults -----------------------------------------------------------------------------------

    def faults(self) -> dict[str, Callable[[], None]]:
        """Return the faults that can be injected into this installation, by name."""
        found: dict[str, Callable[[], None]] = {
            "web server killed": lambda: self._kill("web"),
            "worker killed": lambda: self._at_work(lambda: self._kill("worker")),
            "all killed": lambda: self._at_work(self._kill_all),
            "disk full": self._fill_disk,
            "clock jumped": self._set_clocks_wrong,
        }
        if self.postgres and self.redis:
            found |= {
                "worker process killed": lambda: self._at_work(
                    lambda: self._kill("worker", below=True)
                ),
                "beat killed": lambda: self._kill("beat"),
                "Redis killed": lambda: self._restart_service(self.redis, "kill"),
                "Redis stopped": lambda: self._restart_service(self.redis, "stop"),
                "PostgreSQL killed": lambda: self._restart_service(self.postgres, "kill"),
                "PostgreSQL stopped": lambda: self._restart_service(self.postgres, "stop"),
                "Redis hung": lambda: self._hang(self.redis),
                "PostgreSQL hung": lambda: self._hang(self.postgres),
            }
        return found

    def _at_work(self, inject: Callable[[], None]) -> None:
        """Inject a fault in the middle of a job, if one runs within 20 seconds."""
        if self.work.wait(20):
            time.sleep(self._random.uniform(0.0, 0.5))
            self.done["in the middle of a job"] += self.work.is_set()
        inject()

    def _kill(self, program: str, *, below: bool = False) -> None:
        """Kill a program's main process or, with `below`, one of its children."""

        def victims() -> list[int]:
            return [
                pid
                for pid, kind, main in self._processes()
                if kind == program and main is not below
            ]

        # The supervisor waits before it restarts a program that ends often.
        wait_until(victims, f"a process of {program}", seconds=60)
        with contextlib.suppress(ProcessLookupError, IndexError):
            os.kill(self._random.choice(victims()), signal.SIGKILL)
            self.done[f"{program} {'process' if below else 'server'} killed"] += 1

    def _kill_all(self) -> None:
        """Kill the supervisor, whereupon the kernel ends the rest, as in a power cut."""
        assert self._programs is not None
        self._programs.kill()
        self._programs.wait()
        self.done["all killed at once"] += 1
        wait_until(lambda: not self.listens(), "everything to be gone")
        self.start_programs()

    def _restart_service(self, service: Postgres | RedisServer | None, how: str) -> None:
        assert service is not None
        {"kill": service.kill, "stop": service.stop}[how]()
        name = type(service).__name__.removesuffix("Server")
        self.done[f"{name} {how}"] += 1
        time.sleep(self._random.uniform(0.2, 1.5))
        service.start()

    def _hang(self, service: Postgres | RedisServer | None) -> None:
        """Suspend a service for some seconds, so that it does not answer."""
        assert service is not None
        stopped = []
        for pid in process_tree(service.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
                stopped.append(pid)
        time.sleep(self._random.uniform(2.0, 4.0))
        for pid in stopped:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        self.done[f"{type(service).__name__.removesuffix('Server')} hang"] += 1

    def _fill_disk(self) -> None:
        """Leave no space on the disk for two seconds."""
        with self._full():
            time.sleep(2)
        self.done["disk full"] += 1
        if self.postgres and not self.postgres.runs:
            # PostgreSQL stops if it cannot write its log; an operator would start it again.
            self.done["Postgres gave up on a full disk"] += 1
            self.postgres.kill()
            self.postgres.start()

    @contextlib.contextmanager
    def _full(self) -> Iterator[None]:
        if not self.mounted:
            with self._no_larger_files():
                yield
            return
        ballast = self._disk / "ballast"
        try:
            with ballast.open("wb", buffering=0) as stream, contextlib.suppress(OSError):
                while True:
                    stream.write(bytes(65_536))
            yield
        finally:
            ballast.unlink()

    @contextlib.contextmanager
    def _no_larger_files(self) -> Iterator[None]:
        pids = [pid for pid, _, _ in self._processes()]
        changed: list[tuple[int, tuple[int, int]]] = []
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
                resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, before[1]))
                changed.append((pid, before))
        try:
            yield
        finally:
            for pid, before in changed:
                with contextlib.suppress(ProcessLookupError):
                    resource.prlimit(pid, resource.RLIMIT_FSIZE, before)

    def _set_clocks_wrong(self) -> None:
        """Set the clock of the web processes, of the workers or of both wrong from now on."""
        by = self._random.choice((-2 * HOUR, -60, 90, 2 * HOUR, 5 * HOUR))
        for name in self._random.choice((["web"], ["worker"], ["web", "worker"])):
            self.set_clock(name, by)
        self.done["clock jumped"] += 1

    def set_clock(self, name: str, by: float) -> None:
        """Set the offset of a clock ("web" or "worker") in seconds."""
        new = self._clocks / f"{name}.new"
        new.write_text(str(by))
        new.rename(self._clocks / name)

    # --- processes --------------------------------------------------------------------------------

    def _processes(self) -> list[tuple[int, str, bool]]:
        """Return each process below the supervisor: pid, program, and if it is the main one."""
        assert self._programs is not None
        root = self._programs.pid
        found = []
        with contextlib.suppress(KeyError):
            for pid, stat in process_tree(root).items():
                with contextlib.suppress(OSError):
                    command = Path(f"/proc/{pid}/cmdline").read_bytes().decode()
                    kind = next(
                        (
                            kind
                            for word, kind in (
                                ("config.web", "web"),
                                ("worker", "worker"),
                                ("beat", "beat"),
                            )
                            if word in command
                        ),
                        "",
                    )
                    if pid != root and kind:
                        found.append((pid, kind, int(stat[1]) == root))
        return found

    def listens(self) -> bool:
        """Return whether a server listens at the port."""
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            return True
        return False


def choose_faults(
    installation: Installation, seconds: float, seed: int
) -> Iterator[tuple[float, Callable[[], None]]]:
    """Yield faults, each with the pause in seconds before it.

    Each fault comes once, in an order that depends on the seed; then random ones follow until the
    time is over.
    """
    chance = random.Random(seed)
    faults = installation.faults()
    once = chance.sample([*faults], k=len(faults))
    until = time.monotonic() + seconds
    while once or time.monotonic() < until:
        name = once.pop() if once else chance.choice([*faults])
        yield chance.uniform(1.0, 3.0), faults[name]


def storm(
    database: str, folder: Path, *, seconds: float, people: int, pace: float, lines: int, seed: int
) -> dict[str, Any]:
    """Run the storm on a new installation; return the counts and the complaints."""
    installation = Installation(database, folder, seed)
    enough = threading.Event()
    try:
        plan = installation.begin(people)
        began = time.monotonic()
        lead = Lead(installation.port, plan["lead"], seed, enough, lines)
        installation.work = lead.sees_work
        annotators = [
            Annotator(installation.port, who, seed * 1_000 + n, enough, pace)
            for n, who in enumerate(plan["annotators"], start=1)
        ]
        everybody: list[Person] = [*annotators, lead]
        for person in everybody:
            person.start()
        for pause, inject in choose_faults(installation, seconds, seed):
            # The next fault comes when people can work again.
            wait_until(installation.listens, "the web server to be back", seconds=60)
            time.sleep(pause)
            inject()
        storm_seconds = time.monotonic() - began
        enough.set()
        # Set the clocks back, further than needed: what a fast clock limited to a minute must not
        # last until the slower clock has caught up.
        for name in ("web", "worker"):
            installation.set_clock(name, -6 * HOUR)
        for person in everybody:
            person.join(300)
        jobs = installation.step("settle")
        diary = combine_diaries(everybody)
        if left := [person.name for person in everybody if person.is_alive()]:
            diary["complaints"].append(f"these never came to an end: {left}")
        recorded = folder / "record.json"
        recorded.write_text(json.dumps({**diary, "handed_in": lead.handed_in}))
        truth = installation.step("check", str(recorded))
    except BaseException:
        print(installation.log()[-20_000:], file=sys.stderr)
        raise
    finally:
        enough.set()
        installation.end()
    complaints = diary["complaints"] + truth["complaints"]
    if complaints:
        print(installation.log()[-20_000:], file=sys.stderr)
    return {
        "database": database,
        "seed": seed,
        "seconds": round(storm_seconds, 1),
        "people": people,
        "disk": "a tmpfs of its own" if installation.mounted else "RLIMIT_FSIZE",
        "survived": dict(sorted(installation.done.items())),
        **truth["counts"],
        "jobs_ended": jobs,
        "exports_taken_away": lead.taken_away,
        **{name: diary[name] for name in ("requests", "unanswered", "sent_again")},
        "saved_after_ms": quantiles([1_000 * one for one in diary["waits"]] or [0.0]),
        "complaints": complaints,
    }


def in_mount_namespace(argv: list[str]) -> list[str]:
    """Return a command line that runs `argv` in a mount namespace, or `argv` if not allowed."""
    own = ["unshare", "--mount"]
    if os.geteuid() != 0:
        own = ["unshare", "--user", "--map-root-user", "--mount"]
    if (
        shutil.which("unshare")
        and not subprocess.run([*own, "true"], capture_output=True).returncode
    ):
        return [*own, *argv]
    return argv


def main() -> None:
    """Parse the options and run the storm."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("database", choices=["sqlite", "postgresql"])
    parser.add_argument("--seconds", type=float, default=0.0, help="at least (%(default)s)")
    parser.add_argument("--people", type=int, default=20, help="annotators (%(default)s)")
    parser.add_argument("--pace", type=float, default=0.5, help="seconds to a key (%(default)s)")
    parser.add_argument("--lines", type=int, default=30_000, help="of each file (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="(%(default)s)")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.inside:
        again = [sys.executable, "-m", "tests.chaos.storm", *sys.argv[1:], "--inside"]
        command = in_mount_namespace(again)
        os.execvp(command[0], command)
    folder = Path(tempfile.mkdtemp(prefix="rj-storm-", dir="/tmp"))
    disk = folder / "disk"
    disk.mkdir()
    # Visible to this process and its children only, and removed with the last of them.
    mounted = shutil.which("mount") is not None and not (
        subprocess.run(
            [
                *("mount", "-t", "tmpfs", "-o", f"size={DISK_MB[options.database]}m"),
                *("tmpfs", str(disk)),
            ],
            capture_output=True,
        ).returncode
    )
    try:
        found = storm(
            options.database,
            folder,
            seconds=options.seconds,
            people=options.people,
            pace=options.pace,
            lines=options.lines,
            seed=options.seed,
        )
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(disk)], check=True)
        shutil.rmtree(folder, ignore_errors=True)
    print(json.dumps(found, indent=2))
    sys.exit(bool(found["complaints"]))


if __name__ == "__main__":
    main()
