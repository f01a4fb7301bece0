"""`manage.py serve`: the web server and the worker, started and stopped as one."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from config.static import collect_static
from config.supervisor import Program, Supervisor, port_is_free


class Command(BaseCommand):
    """Brings the database and the static files up to date, then serves until Ctrl-C."""

    help = "Serve Rejudge: the web server and the background worker together, until Ctrl-C."
    # They cost half a second; the worker runs them all, and migrate those of the database.
    requires_system_checks = ()
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

    def handle(self, *args: Any, **options: Any) -> None:
        """Prepare, then supervise."""
        host, port = options["host"], options["port"]
        if not port_is_free(host, port):
            raise CommandError(
                f"Port {port} is in use. Choose another: {self.again} --port {port + 1}"
            )
        self.prepare()
        url = f"http://{f'[{host}]' if ':' in host else host}:{port}/"
        supervisor = Supervisor(
            [
                Program("web", web_command(host, port, options["web_workers"])),
                Program("worker", worker_command(options["job_workers"])),
            ],
            cwd=settings.BASE_DIR,
            env={**os.environ, "REJUDGE_SUPERVISED": "1", "PYTHONUNBUFFERED": "1"},
            write=self.write,
        )
        self.write("Starting the web server and the worker")
        supervisor.run(host=host, port=port, on_ready=lambda: self.greet(url))
        self.write("Stopped. Everything is kept.")

    def prepare(self) -> None:
        """Bring the database and the static files up to date."""
        self.write(f"Data is kept in {settings.DATA}")
        executor = MigrationExecutor(connection)
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            self.write("Bringing the database up to date")
            call_command("migrate", interactive=False, verbosity=0)
        connection.close()
        if collect_static():
            self.write("Collected the static files")

    def greet(self, url: str) -> None:
        """Say where the pages are."""
        self.write(f"Rejudge is at {url}   (Ctrl-C stops it)")

    def write(self, line: str) -> None:
        """Print one line at once, also into a pipe."""
        self.stdout.write(line)
        self.stdout.flush()


def web_command(host: str, port: int, workers: int) -> list[str]:
    """Return the command line of the web server."""
    return [
        *(sys.executable, "-m", "granian", "--interface", "wsgi"),
        *("--host", host, "--port", str(port), "--no-ws"),
        *("--workers", str(workers), "--blocking-threads", "4"),
        # A page that is being answered is waited for, not longer than a person would.
        *("--workers-kill-timeout", "10s", "--respawn-failed-workers"),
        *("--log-level", "warning", "config.wsgi:application"),
    ]


def worker_command(concurrency: int, *, schedule: bool = True) -> list[str]:
    """Return the command line of a worker, by default with the schedule inside it."""
    return [
        *(sys.executable, "-W", "ignore:You're running the worker with superuser"),
        *("-m", "celery", "--quiet", "--app", "config.celery", "worker"),
        *(["--beat"] if schedule else []),
        *("--concurrency", str(concurrency), "--loglevel", "INFO"),
        *("--without-gossip", "--without-mingle", "--without-heartbeat"),
    ]
