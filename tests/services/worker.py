"""A real Celery worker on the test's database, with a broker that the test chooses."""

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
    """A worker that has sent its first heartbeat: its main process and its name."""

    process: subprocess.Popen[bytes]
    name: str


@contextlib.contextmanager
def worker(broker_url: str, name: str, *, beside_the_web: bool = False) -> Iterator[Worker]:
    """Run a worker that takes one job at a time.

    By default a separate worker without the schedule; with `beside_the_web` the one that `serve`
    runs beside the web server.
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
        # Killed at the end, which is quick; how a worker stops is tested elsewhere.
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
    """Return a version of `config.celery.deliver` for this broker."""

    def deliver(task: str, pk: int) -> None:
        options = transport_options(broker_url)
        with app.connection_for_write(broker_url, transport_options=options) as broker:
            app.send_task(task, args=[pk], connection=broker)

    return deliver
