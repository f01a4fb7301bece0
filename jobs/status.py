"""Whether anybody is there to do the work, for pages and health checks."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from django.apps import apps
from django.db.models import Max
from django.utils import timezone

from jobs.models import Heartbeat, Job
from jobs.runner import left_behind

# The beat comes every ten seconds; three may be late.
SILENT_AFTER = timedelta(seconds=40)
FORGOTTEN_AFTER = timedelta(days=1)


class WorkerStatus(NamedTuple):
    """Whether a worker is alive, when one last gave a sign of life, and whether one is at a job."""

    alive: bool
    last_seen: datetime | None
    busy: bool


def beat(worker: str, *, now: datetime | None = None) -> None:
    """Write down that `worker` is alive; forget the ones that have been silent for a day."""
    now = now or timezone.now()
    Heartbeat.objects.update_or_create(worker=worker, defaults={"at": now})
    Heartbeat.objects.filter(at__lt=now - FORGOTTEN_AFTER).delete()
    # Signs from the future are of a clock that has been set back since.
    Heartbeat.objects.filter(at__gt=now + SILENT_AFTER).delete()


def worker_status(*, now: datetime | None = None) -> WorkerStatus:
    """Say whether work that is asked for now would be done."""
    now = now or timezone.now()
    last_seen = Heartbeat.objects.aggregate(last=Max("at"))["last"]
    # Workers that are all at long jobs leave the heartbeat waiting in the queue behind them.
    busy = any(
        model._default_manager.filter(state=Job.State.RUNNING).exclude(left_behind(now)).exists()
        for model in job_models()
    )
    heard = Heartbeat.objects.filter(at__range=(now - SILENT_AFTER, now + SILENT_AFTER)).exists()
    return WorkerStatus(alive=heard or busy, last_seen=last_seen, busy=busy)


def job_models() -> list[type[Job]]:
    """Return every kind of job that any room has, in the order of the rooms."""
    return [
        model
        for model in apps.get_models()
        if issubclass(model, Job) and not model._meta.abstract and not model._meta.proxy
    ]
