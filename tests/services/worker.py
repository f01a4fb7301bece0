"""A real Celery worker beside the test: on the test's database, over a broker the test names."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from typing import NamedTuple

from django.conf import settings
from django.db import connection

from config.celery import app, transport_options
from config.management.commands.serve import worker_command
from jobs.models import Heartbeat
from tests.services.processes import running, short_folder, wait_until


class Worker(NamedTuple):
    """A worker that has shown up: its main process and what it is called."""

    process: subprocess.Popen[bytes]
    name: str


@contextlib.contextmanager
def worker(broker_url: str, name: str, *, beside_the_web: bool = False) -> Iterator[Worker]:
    """Run a worker that takes one job at a time: one of its own, without a schedule, or the one
    that `serve` puts beside the web server.
    """
    env = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "REJUDGE_TEST_BROKER": broker_url,
        "REJUDGE_TEST_DATABASE": str(connection.settings_dict["NAME"]),
        "PYTHONUNBUFFERED": "1",
    }
    argv = [*worker_command(concurrency=1, schedule=beside_the_web), "--hostname", name]
    with (
        short_folder("worker") as folder,
        # Killed at the end, which is quick; what a worker does when it is told to stop is tested.
        running(
            argv, log=folder / "log", env=env, cwd=settings.BASE_DIR, stop=signal.SIGKILL
        ) as process,
    ):
        wait_until(
            lambda: Heartbeat.objects.filter(worker=name, at__isnull=False).exists(),
            f"the first heartbeat of {name}",
            process=process,
            log=folder / "log",
        )
        yield Worker(process, name)


def deliver_to(broker_url: str) -> Callable[[str, int], None]:
    """Return what `config.celery.deliver` would be if this were its broker."""

    def deliver(task: str, pk: int) -> None:
        options = transport_options(broker_url)
        with app.connection_for_write(broker_url, transport_options=options) as broker:
            app.send_task(task, args=[pk], connection=broker)

    return deliver
