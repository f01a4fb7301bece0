"""Whether workers are running, for pages and health checks."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import cache
from typing import Annotated, Any, NamedTuple

from django.db import connection
from django.db.models import Max
from django.utils import timezone

from jobs.models import Heartbeat, Job
from jobs.models import job_models as job_models
from jobs.runner import is_abandoned

# A heartbeat is due every ten seconds; three may be late.
SILENT_AFTER = timedelta(seconds=40)
FORGOTTEN_AFTER = timedelta(days=1)


class WorkerStatus(NamedTuple):
    """Whether workers are alive.

    `last_seen`: when one last took a message from the broker; `busy`: that was too long ago, but a
    job is running.
    """

    alive: bool
    last_seen: datetime | None
    busy: bool


def record_heartbeat(worker: str, *, now: datetime | None = None) -> None:
    """Record that `worker` takes messages; delete workers that have been silent for a day."""
    now = now or timezone.now()
    Heartbeat.objects.update_or_create(worker=worker, defaults={"at": now, "seen_at": now})
    Heartbeat.objects.filter(seen_at__lt=now - FORGOTTEN_AFTER).delete()


def record_process(worker: str, *, now: datetime | None = None) -> None:
    """Record that the process of `worker` is alive, whether or not it takes messages."""
    Heartbeat.objects.update_or_create(worker=worker, defaults={"seen_at": now or timezone.now()})


def worker_status(*, now: datetime | None = None) -> WorkerStatus:
    """Return whether a job requested now would be done."""
    now = now or timezone.now()
    # Ignore times in the future: they come from a clock that has been set back since.
    signs = Heartbeat.objects.filter(at__lte=now + SILENT_AFTER)
    last_seen = signs.aggregate(last=Max("at"))["last"]
    is_recent = last_seen is not None and last_seen >= now - SILENT_AFTER
    # While all workers run long jobs, the heartbeat task waits in the queue.
    busy = not is_recent and _is_job_running(now)
    return WorkerStatus(alive=is_recent or busy, last_seen=last_seen, busy=busy)


def _is_job_running(now: datetime) -> bool:
    """Return whether a job of any kind is running; mostly one query."""
    with connection.cursor() as cursor:
        cursor.execute(*_running(connection.vendor))
        if cursor.fetchone() is None:
            return False
    first, *others = (
        model._default_manager.filter(state=Job.State.RUNNING)
        .exclude(is_abandoned(now))
        .values("pk")
        for model in job_models()
    )
    return first.union(*others, all=True).exists()


@cache
def _running(vendor: str) -> tuple[str, tuple[Any, ...]]:
    """Return the SQL for one running job of any kind, whether or not its worker is alive.

    Cached, because pages run it again and again while no worker is alive.
    """
    first, *others = (
        model._default_manager.filter(state=Job.State.RUNNING).values("pk")
        for model in job_models()
    )
    sql, parameters = first.union(*others, all=True)[:1].query.sql_with_params()
    return sql, tuple(parameters)


class WorkerSeen(NamedTuple):
    """A worker that was last seen within a day."""

    name: str
    alive: Annotated[bool, "Whether its process was alive within the last minutes."]
    seen_at: datetime
    took_at: Annotated[datetime | None, "When it last took work; null if never."]


def workers(*, now: datetime | None = None) -> list[WorkerSeen]:
    """Return the workers of the last day, by name."""
    now = now or timezone.now()
    rows = Heartbeat.objects.filter(seen_at__gte=now - FORGOTTEN_AFTER).order_by("worker")
    return [
        WorkerSeen(row.worker, abs(now - row.seen_at) <= SILENT_AFTER, row.seen_at, row.at)
        for row in rows
    ]
