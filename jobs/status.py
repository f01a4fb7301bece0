"""Whether anybody is there to do the work, for pages and health checks."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import cache
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import Max
from django.utils import timezone

from jobs.models import Heartbeat, Job
from jobs.models import job_models as job_models
from jobs.runner import left_behind

# The beat comes every ten seconds; three may be late.
SILENT_AFTER = timedelta(seconds=40)
FORGOTTEN_AFTER = timedelta(days=1)


class WorkerStatus(NamedTuple):
    """Whether what is asked for gets done, when a worker last took something from the broker, and,
    where that was too long ago, whether one is at a job.
    """

    alive: bool
    last_seen: datetime | None
    busy: bool


def beat(worker: str, *, now: datetime | None = None) -> None:
    """Write down that `worker` is alive; forget the ones that have been silent for a day."""
    now = now or timezone.now()
    Heartbeat.objects.update_or_create(worker=worker, defaults={"at": now, "seen_at": now})
    Heartbeat.objects.filter(seen_at__lt=now - FORGOTTEN_AFTER).delete()


def show_up(worker: str, *, now: datetime | None = None) -> None:
    """Write down that the process of `worker` is there, whether or not it takes work."""
    Heartbeat.objects.update_or_create(worker=worker, defaults={"seen_at": now or timezone.now()})


def worker_status(*, now: datetime | None = None) -> WorkerStatus:
    """Say whether work that is asked for now would be done."""
    now = now or timezone.now()
    # Signs from the future are of a clock that has been set back since: they say nothing.
    signs = Heartbeat.objects.filter(at__lte=now + SILENT_AFTER)
    last_seen = signs.aggregate(last=Max("at"))["last"]
    heard = last_seen is not None and last_seen >= now - SILENT_AFTER
    # Workers that are all at long jobs leave the heartbeat waiting in the queue behind them.
    busy = not heard and _somebody_works(now)
    return WorkerStatus(alive=heard or busy, last_seen=last_seen, busy=busy)


def _somebody_works(now: datetime) -> bool:
    """Whether a job of any kind is under way: one query for all of them, mostly."""
    with connection.cursor() as cursor:
        cursor.execute(*_running(connection.vendor))
        if cursor.fetchone() is None:
            return False
    first, *others = (
        model._default_manager.filter(state=Job.State.RUNNING)
        .exclude(left_behind(now))
        .values("pk")
        for model in job_models()
    )
    return first.union(*others, all=True).exists()


@cache
def _running(vendor: str) -> tuple[str, tuple[Any, ...]]:
    """The query for a job of any kind that has begun and not ended; its worker may be lost. Put
    together once: pages ask it again and again where no worker is there.
    """
    first, *others = (
        model._default_manager.filter(state=Job.State.RUNNING).values("pk")
        for model in job_models()
    )
    sql, parameters = first.union(*others, all=True)[:1].query.sql_with_params()
    return sql, tuple(parameters)


class WorkerSeen(NamedTuple):
    """A worker that gave a sign of life within a day."""

    name: str
    # Whether its process was there within the time that counts as silence.
    alive: bool
    seen_at: datetime
    # When it last took something from the broker; None: it has not yet.
    took_at: datetime | None


def workers(*, now: datetime | None = None) -> list[WorkerSeen]:
    """Return the workers of the last day, by name."""
    now = now or timezone.now()
    rows = Heartbeat.objects.filter(seen_at__gte=now - FORGOTTEN_AFTER).order_by("worker")
    return [
        WorkerSeen(row.worker, abs(now - row.seen_at) <= SILENT_AFTER, row.seen_at, row.at)
        for row in rows
    ]
