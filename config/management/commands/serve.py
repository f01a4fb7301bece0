"""`manage.py serve`: the web server and the worker, started and stopped together."""

from __future__ import annotations

import json
import os
import shutil
import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from base.commands import PORT, number_within
from config.management.commands import prepare
from config.static import is_static_collected
from config.supervisor import Program, is_port_free


class Command(prepare.Command):
    """Brings everything up to date, then serves until Ctrl-C."""

    help = "Serve Rejudge: the web server and the background worker together, until Ctrl-C."
    command_name = f"{settings.COMMAND} serve"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the options for the address, the port and how much is done at once."""
        parser.add_argument(
            "--host", default="127.0.0.1", help="address to listen on (%(default)s)"
        )
        parser.add_argument("--port", type=PORT, default=8000, help="port (%(default)s)")
        parser.add_argument(
            "--web-processes",
            type=number_within(1, 32),
            metavar="N",
            default=min(2, os.cpu_count() or 1),
            help="processes that answer requests; each uses one core (%(default)s)",
        )
        parser.add_argument(
            "--job-workers",
            type=number_within(1, 32),
            metavar="N",
            default=2,
            help="jobs at once (%(default)s)",
        )
        parser.add_argument(
            "--only",
            choices=["web", "worker", "beat"],
            help="run only this program, in a container of its own, after the command "
            "`prepare` and beside the other two",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Prepare and supervise the programs, or become one of them."""
        host, port = options["host"], options["port"]
        # Large temporary files belong in the data folder: /tmp is often in memory, and small.
        os.environ.setdefault("TMPDIR", str(settings.SCRATCH))
        web = web_command(host, port)
        if options.get("only") == "web" and not is_static_collected():
            raise CommandError(
                f"There are no static files in {settings.STATIC_ROOT}. Run first, on each machine "
                f"with a data folder of its own: {settings.COMMAND} prepare"
            )
        if options.get("only"):
            worker = worker_command(options["job_workers"], schedule=False)
            exec_program({"web": web, "worker": worker, "beat": beat_command()}[options["only"]])
        self._refuse_port(host, port)
        self.prepare()
        url = f"http://{f'[{host}]' if ':' in host else host}:{port}/"
        self.write("Starting the web server and the worker")
        share_metrics()
        programs = [
            *[Program("web server", web)] * options["web_processes"],
            Program("worker", worker_command(options["job_workers"])),
            *self.more_programs(),
        ]
        greeting = [*self.greeting(url), *who_is_refused(host)]
        supervise(programs, host=host, port=port, greeting=greeting)

    def _refuse_port(self, host: str, port: int) -> None:
        """Raise CommandError if a server cannot listen there, with what to do."""
        try:
            if is_port_free(host, port):
                return
        except PermissionError as error:
            raise CommandError(
                f"This system account may not listen at port {port}. Choose one above 1023: "
                f"{self.command_name} --port 8000"
            ) from error
        except OSError as error:
            raise CommandError(
                f"This machine cannot listen at {host} ({error.strerror}). Choose another --host, "
                "or leave it out."
            ) from error
        raise CommandError(
            f"Port {port} is in use. Choose another: {self.command_name} --port {port + 1}"
        )

    def more_programs(self) -> list[Program]:
        """Return what is started with the web server and the worker."""
        return []

    def greeting(self, url: str) -> list[str]:
        """Return the lines to print once the web server answers."""
        return [f"Rejudge is at {url}   (Ctrl-C stops it)"]


def who_is_refused(host: str) -> list[str]:
    """Return a line if other machines reach the server, and it answers this one only."""
    if host in {"localhost", "127.0.0.1", "::1"} or settings.ALLOWED_HOSTS != settings.THIS_MACHINE:
        return []
    line = (
        "Only this machine gets pages. For others set REJUDGE_HOSTS to the names or addresses that "
        "they use for it, as in REJUDGE_HOSTS=lab.example.org,localhost"
    )
    return [line]


def share_metrics() -> None:
    """Have all web processes count requests in one folder; Prometheus's library adds them up."""
    folder = settings.DATA / "metrics"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder)


def supervise(programs: list[Program], *, host: str, port: int, greeting: list[str]) -> None:
    """Become the supervisor of `programs`.

    It is a new program, because this one holds Django's memory and perhaps threads of numpy's. The
    plan is passed through a pipe, not on the command line: the greeting may contain passwords.
    """
    plan = {"programs": programs, "host": host, "port": port, "greeting": greeting}
    reader, writer = os.pipe()
    os.write(writer, json.dumps(plan).encode())
    os.close(writer)
    os.set_inheritable(reader, True)
    os.environ.update({"REJUDGE_SUPERVISED": "1", "PYTHONUNBUFFERED": "1"})
    exec_program([sys.executable, "-m", "config.supervisor", str(reader)])


def web_command(host: str, port: int) -> list[str]:
    """Return the command line of the web server."""
    return [sys.executable, "-m", "config.web", host, str(port)]


def worker_command(concurrency: int, *, schedule: bool = True) -> list[str]:
    """Return the command line of a worker.

    By default, of the one beside the web server: it includes the schedule and runs jobs in threads,
    because a process for each job would take as much memory as the whole web server. Without
    `schedule`, of a separate worker with a process for each job.
    """
    return [
        *(sys.executable, "-W", "ignore:You're running the worker with superuser"),
        *("-m", "config.worker", str(concurrency)),
        *(["--beside-the-web"] if schedule else []),
    ]


def beat_command() -> list[str]:
    """Return the command line of the schedule alone; one is enough for many workers."""
    return [
        *(sys.executable, "-m", "celery", "--quiet", "--app", "config.celery", "beat"),
        *("--loglevel", "INFO", "--pidfile", ""),
    ]


def exec_program(argv: list[str]) -> None:
    """Replace this process with the program, so that signals reach it directly."""
    os.chdir(settings.BASE_DIR)
    os.execv(argv[0], argv)
