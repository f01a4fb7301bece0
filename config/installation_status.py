"""The state of the installation: its services, workers, queues and failed jobs."""

from __future__ import annotations

import logging
from datetime import datetime
from functools import cache
from typing import Annotated, NamedTuple

from django.db import DatabaseError, connection, transaction
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Count, Min, Q, QuerySet
from django.utils.text import capfirst

from annotate.projects.audit_log import record
from base.users import User
from jobs import queue
from jobs.models import Job
from jobs.status import job_models

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


def unapplied_migrations() -> list[str]:
    """Return the migrations that the database lacks, as in jobs.0001_initial."""
    applied = MigrationRecorder(connection).applied_migrations()
    return sorted(f"{app}.{name}" for app, name in _migrations_in_code() - applied.keys())


@cache
def _migrations_in_code() -> frozenset[tuple[str, str]]:
    """Return the migrations in the code, which do not change while it runs."""
    return frozenset(MigrationLoader(None).disk_migrations or {})


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

    label: str
    name: str
    waiting: int
    oldest: Annotated[datetime | None, "When the oldest waiting job was requested."]
    running: int
    failed: int


def queues() -> list[Queue]:
    """Count the jobs of every kind, with one query each."""
    return [_count_jobs(model) for model in job_models()]


def _count_jobs(model: type[Job]) -> Queue:
    waits = Q(state=Job.State.QUEUED)
    counts = model._default_manager.aggregate(
        waiting=Count("pk", filter=waits),
        oldest=Min("requested_at", filter=waits),
        running=Count("pk", filter=Q(state=Job.State.RUNNING)),
        failed=Count("pk", filter=Q(state=Job.State.FAILED)),
    )
    return Queue(label=model.label(), name=kind_name(model), **counts)


def kind_name(model: type[Job]) -> str:
    """Return the name of this kind of job, for people."""
    return str(capfirst(model._meta.verbose_name))


class ListPosition(NamedTuple):
    """The position of a job in the list of failed jobs, which is sorted newest first."""

    finished_at: datetime
    label: str
    pk: int


def failed_jobs(
    *, before: ListPosition | None = None, size: int = 25
) -> tuple[list[Job], ListPosition | None]:
    """Return a page of failed jobs of all kinds, newest first, and the place of its last job.

    The place is None if no more follow. `before`: only jobs after this place in the list. Takes
    one query for each kind.
    """
    jobs: list[Job] = []
    for model in job_models():
        rows = model._default_manager.filter(state=Job.State.FAILED)
        if before is not None:
            rows = rows.filter(_follows(before, model.label()))
        jobs += _with_project(rows.order_by("-finished_at", "-pk"), model)[: size + 1]
    jobs.sort(key=_position_of, reverse=True)
    shown = jobs[:size]
    return shown, _position_of(shown[-1]) if len(jobs) > size else None


def running_jobs() -> list[Job]:
    """Return the running jobs of all kinds, oldest first: at most one for each worker process."""
    jobs: list[Job] = []
    for model in job_models():
        jobs += _with_project(model._default_manager.filter(state=Job.State.RUNNING), model)
    return sorted(jobs, key=lambda job: job.started_at or job.requested_at)


def find_job(label: str, pk: int) -> Job | None:
    """Return the job of this kind with this key, or None."""
    model = next((model for model in job_models() if model.label() == label), None)
    return model._default_manager.filter(pk=pk).first() if model else None


def retry_job(*, job: Job, by: User | None, now: datetime | None = None) -> bool:
    """Retry a failed job, and record in the audit log that `by` did (None: a command).

    Returns False if the job already waits or runs. Raises `queue.CannotRetry` with a sentence if it
    cannot be retried.
    """
    with transaction.atomic():
        done = queue.retry(job, by=by.get_username() if by else "the command line")
        if done:
            record(
                project=getattr(job, "project", None),
                what="job.retried",
                about=job,
                named=f"{job.label()} {job.pk}: {job}",
                by=by,
                now=now,
            )
    return done


def _with_project(rows: QuerySet[Job], model: type[Job]) -> QuerySet[Job]:
    related = {field.name for field in model._meta.get_fields()} & {"project"}
    return rows.select_related("requested_by", *related)


def _position_of(job: Job) -> ListPosition:
    assert job.finished_at is not None
    return ListPosition(job.finished_at, job.label(), job.pk)


def _follows(position: ListPosition, label: str) -> Q:
    """Return the filter for the jobs of one kind that come after a place in the list."""
    older = Q(finished_at__lt=position.finished_at)
    if label > position.label:
        return older
    rest = Q(finished_at=position.finished_at)
    return older | (rest & Q(pk__lt=position.pk) if label == position.label else rest)
