"""`manage.py health`: check whether a part of the installation works."""

from __future__ import annotations

import socket
from argparse import ArgumentParser
from http.client import HTTPConnection
from typing import Any

from django.core.management.base import CommandError

from base.commands import PORT, RejudgeCommand
from jobs.status import worker_status, workers


class Command(RejudgeCommand):
    """Prints a sentence and exits with 0 if the part works, else with 1."""

    help = "Check whether the web server answers, or whether workers take work."
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the arguments for the part to check."""
        parser.add_argument("part", choices=["web", "worker"])
        parser.add_argument(
            "--here",
            action="store_true",
            help="only check the worker on this machine, or in this container: whether its process "
            "is alive",
        )
        parser.add_argument(
            "--port", type=PORT, default=8000, help="port of the web server (%(default)s)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Check the part and report."""
        if options["part"] == "web":
            self._check_web(options["port"])
        elif options["here"]:
            self._check_local_worker()
        else:
            self._check_workers()

    def _check_web(self, port: int) -> None:
        connection = HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            # Not reversed: that would first import every view, each time.
            connection.request("GET", "/healthz")
            status = connection.getresponse().status
        except OSError as error:
            raise CommandError(f"The web server does not answer at port {port}: {error}") from error
        finally:
            connection.close()
        if status != 200:
            raise CommandError(f"The web server answers with {status}.")
        self.stdout.write("The web server answers.")

    def _check_local_worker(self) -> None:
        hostname = socket.gethostname()
        if not any(w.alive for w in workers() if w.name.rpartition("@")[2] == hostname):
            raise CommandError(f"No worker is alive on {hostname}.")
        self.stdout.write(f"A worker is alive on {hostname}.")

    def _check_workers(self) -> None:
        status = worker_status()
        if not status.alive:
            last_seen = (
                f"; the last one was seen at {status.last_seen:%F %T}" if status.last_seen else ""
            )
            raise CommandError(f"No worker takes work{last_seen}.")
        self.stdout.write("A worker takes work.")
