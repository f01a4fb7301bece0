"""The state of the installation: its services, workers, queues and failed jobs."""

from __future__ import annotations

import logging
from datetime import datetime
from typing import Annotated, Any, NamedTuple

from django.db import DatabaseError, connection, transaction
from django.db.models import Count, Min, Q
from django.utils.text import capfirst

from annotate.projects.audit_log import record
from base.database_version import unapplied_migrations
from base.users import User
from jobs import queue
from jobs.models import Job, job_kinds, specific
from jobs.status import WorkerSeen, WorkerStatus, worker_status, workers

logger = logging.getLogger(__name__)


class Readiness(NamedTuple):
    """Whether each service answers; `migrations` is whether every migration is applied."""

    database: bool
    broker: bool
    migrations: bool


def check_readiness() -> Readiness:
    """Check the database, the broker and the migrations; log those that do not answer."""
    database = _is_database_up()
    return Readiness(
        database, count_messages() is not None, database and not unapplied_migrations()
    )


def count_messages() -> int | None:
    """Count the messages waiting in the broker. Log it and return None if it does not answer."""
    # Imported only when needed: Celery is slow to import and takes memory.
    from config.celery import BrokerUnavailable, count_waiting_messages

    try:
        return count_waiting_messages()
    except BrokerUnavailable as error:
        logger.error("The broker does not answer: %s", error)
        return None


def _is_database_up() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        logger.exception("The database does not answer")
        connection.close()
        return False
    return True


class Queue(NamedTuple):
    """The jobs of one kind."""

    kind: str
    name: str
    waiting: int
    oldest: Annotated[datetime | None, "When the oldest waiting job was requested."]
    running: int
    failed: int


def queues() -> list[Queue]:
    """Count the jobs of every kind, with one query."""
    waits = Q(state=Job.State.QUEUED)
    counts = Job.objects.values("kind").annotate(
        waiting=Count("pk", filter=waits),
        oldest=Min("requested_at", filter=waits),
        running=Count("pk", filter=Q(state=Job.State.RUNNING)),
        failed=Count("pk", filter=Q(state=Job.State.FAILED)),
    )
    by_kind: dict[str, Any] = {row["kind"]: row for row in counts}
    none = {"waiting": 0, "oldest": None, "running": 0, "failed": 0}
    return [
        Queue(name=_kind_name(model), **by_kind.get(kind, {"kind": kind, **none}))
        for kind, model in job_kinds().items()
    ]


def _kind_name(model: type[Job]) -> str:
    return str(capfirst(model._meta.verbose_name))


class ListPosition(NamedTuple):
    """The position of a job in the list of failed jobs, which is sorted newest first."""

    finished_at: datetime
    pk: int


def failed_jobs(
    *, before: ListPosition | None = None, size: int = 25
) -> tuple[list[Job], ListPosition | None]:
    """Return a page of failed jobs, newest first, and the place of its last job.

    The place is None if no more follow. `before`: only jobs after this place in the list.
    """
    rows = Job.objects.filter(state=Job.State.FAILED).order_by("-finished_at", "-pk")
    if before is not None:
        rows = rows.filter(
            Q(finished_at__lt=before.finished_at)
            | Q(finished_at=before.finished_at, pk__lt=before.pk)
        )
    jobs = list(rows[: size + 1])
    following = _position_of(jobs[size - 1]) if len(jobs) > size else None
    return specific(jobs[:size]), following


def running_jobs() -> list[Job]:
    """Return the running jobs, oldest first: at most one for each worker process."""
    return specific(Job.objects.filter(state=Job.State.RUNNING).order_by("started_at", "pk"))


class Status(NamedTuple):
    """The state of the installation."""

    worker: WorkerStatus
    workers: list[WorkerSeen]
    messages: Annotated[int | None, "In the broker; null if it does not answer."]
    unapplied: Annotated[list[str], "Migrations that the database lacks."]
    queues: list[Queue]
    running: list[Job]
    failed: list[Job]
    # The last of the failed jobs, if more follow.
    last_failed: ListPosition | None

    @property
    def is_well(self) -> bool:
        """Whether jobs are being done, by a database as new as the code."""
        return self.worker.alive and self.messages is not None and not self.unapplied


def read_status(
    *, before: ListPosition | None = None, failed: int = 25, now: datetime | None = None
) -> Status:
    """Return the state of the installation, with so many failed jobs, those after `before`.

    Of a database older than the code nothing else is read: its tables may not exist yet.
    """
    messages, unapplied = count_messages(), unapplied_migrations()
    if unapplied:
        no_worker = WorkerStatus(alive=False, last_seen=None, busy=False)
        return Status(no_worker, [], messages, unapplied, [], [], [], None)
    jobs, last = failed_jobs(before=before, size=failed)
    return Status(
        worker_status(now=now),
        workers(now=now),
        messages,
        unapplied,
        queues(),
        running_jobs(),
        jobs,
        last,
    )


def find_job(pk: int) -> Job | None:
    """Return the job with this key, as a row of its kind, or None."""
    return next(iter(specific(Job.objects.filter(pk=pk))), None)


def retry_job(*, job: Job, by: User | None, now: datetime | None = None) -> bool:
    """Retry a failed job, and record in the audit log that `by` did (None: a command).

    Returns False if the job already waits or runs. Raises `queue.CannotRetry` with a sentence if it
    cannot be retried.
    """
    with transaction.atomic():
        done = queue.retry(job, by=by.get_username() if by else "the command line")
        if done:
            record(
                project=job.project,
                what="job.retried",
                about=job,
                named=f"{job.kind} {job.pk}: {job}",
                by=by,
                now=now,
            )
    return done


def _position_of(job: Job) -> ListPosition:
    assert job.finished_at is not None
    return ListPosition(job.finished_at, job.pk)
