"""`manage.py serve`: the web server and the worker, started and stopped as one."""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from config.management.commands import prepare
from config.supervisor import Program, port_is_free


class Command(prepare.Command):
    """Brings everything up to date, then serves until Ctrl-C."""

    help = "Serve Rejudge: the web server and the background worker together, until Ctrl-C."
    again = "manage.py serve"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Say where to listen and with how many processes."""
        parser.add_argument(
            "--host", default="127.0.0.1", help="address to listen at (%(default)s)"
        )
        parser.add_argument("--port", type=int, default=8000, help="port (%(default)s)")
        parser.add_argument(
            "--web-workers", type=int, default=2, help="web processes (%(default)s)"
        )
        parser.add_argument("--job-workers", type=int, default=2, help="jobs at once (%(default)s)")
        parser.add_argument(
            "--only",
            choices=["web", "worker", "beat"],
            help="become this program and nothing else: for a container of its own, "
            "after `manage.py prepare` and beside the other two",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Prepare, then supervise; or become one of the programs."""
        host, port = options["host"], options["port"]
        # Large things on their way lie with the data: /tmp is often memory, and small.
        os.environ.setdefault("TMPDIR", str(settings.SCRATCH))
        web = web_command(host, port, options["web_workers"])
        if options.get("only"):
            worker = worker_command(options["job_workers"], schedule=False)
            become({"web": web, "worker": worker, "beat": beat_command()}[options["only"]])
        if not port_is_free(host, port):
            raise CommandError(
                f"Port {port} is in use. Choose another: {self.again} --port {port + 1}"
            )
        self.prepare()
        url = f"http://{f'[{host}]' if ':' in host else host}:{port}/"
        self.write("Starting the web server and the worker")
        supervise(
            [Program("web", web), Program("worker", worker_command(options["job_workers"]))],
            host=host,
            port=port,
            greeting=self.greeting(url),
        )

    def greeting(self, url: str) -> list[str]:
        """Say where the pages are."""
        return [f"Rejudge is at {url}   (Ctrl-C stops it)"]


def supervise(programs: list[Program], *, host: str, port: int, greeting: list[str]) -> None:
    """Become the supervisor of `programs`: a process that holds nothing of what was needed until
    here. What it shall do goes through a pipe, for the greeting may hold passwords.
    """
    told = {"programs": programs, "host": host, "port": port, "greeting": greeting}
    reader, writer = os.pipe()
    os.write(writer, json.dumps(told).encode())
    os.close(writer)
    os.set_inheritable(reader, True)
    # A few threads take turns; a heap for each of them would only keep what none of them needs.
    os.environ.setdefault("MALLOC_ARENA_MAX", "2")
    os.environ.update(
        {"REJUDGE_SUPERVISED": "1", "PYTHONUNBUFFERED": "1", "CELERY_SKIP_CHECKS": "1"}
    )
    become([sys.executable, "-m", "config.supervisor", str(reader)])


def web_command(host: str, port: int, workers: int) -> list[str]:
    """Return the command line of the web server."""
    return [sys.executable, "-m", "config.web", host, str(port), str(workers)]


def worker_command(concurrency: int, *, schedule: bool = True) -> list[str]:
    """Return the command line of a worker.

    By default the one beside the web server: with the schedule inside it, and its jobs in threads,
    for a process each would take as much memory as all the pages. Without `schedule` one of its
    own, with a process for each job.
    """
    return [
        *(sys.executable, "-W", "ignore:You're running the worker with superuser"),
        *("-m", "config.worker", str(concurrency)),
        *(["--beside-the-web"] if schedule else []),
    ]


def beat_command() -> list[str]:
    """Return the command line of the schedule alone; one of it is enough for many workers."""
    return [
        *(sys.executable, "-m", "celery", "--quiet", "--app", "config.celery", "beat"),
        *("--loglevel", "INFO", "--pidfile", ""),
    ]


def become(argv: list[str]) -> None:
    """Replace this process, so that signals reach the program itself."""
    os.chdir(settings.BASE_DIR)
    os.execv(argv[0], argv)
