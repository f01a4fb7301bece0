"""Whether workers are running, for pages and health checks."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, NamedTuple

from django.db.models import Max
from django.utils import timezone

from jobs.models import Heartbeat, Job
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
    running = Job.objects.filter(state=Job.State.RUNNING).exclude(is_abandoned(now))
    busy = not is_recent and running.exists()
    return WorkerStatus(alive=is_recent or busy, last_seen=last_seen, busy=busy)


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
