"""Run a job once: claim its row, renew the claim, record how it ended.

The row is authoritative. A message only says "look at this row"; it may arrive twice or late, or
get lost (`jobs.queue` sends another). The worker whose UPDATE sets the row to running does the
work. A claim is valid as long as its lease, which a thread renews while the work goes on. A worker
that is killed stops renewing, and another one takes the row over.
"""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Callable
from contextvars import copy_context
from datetime import datetime, timedelta
from typing import Any

from django.db import DatabaseError, connection, models, transaction
from django.db.models import F, Q
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.module_loading import import_string

from jobs.errors import JobError, Refused, is_away, is_full
from jobs.log_context import job_context
from jobs.models import Job, job_kinds, specific

logger = logging.getLogger(__name__)

# A killed worker's job waits at most this long. It must exceed the longest write on SQLite, which
# blocks all other writers, including the thread that renews the lease.
LEASE = timedelta(seconds=60)
# How often progress is written and the lease renewed, in seconds.
PULSE = 1.0
# A job whose worker died this often is given up: the job itself is the likely cause.
MAX_ATTEMPTS = 3
GIVEN_UP = f"The worker stopped during this job {MAX_ATTEMPTS} times, so it was given up."
UNEXPECTED = "An unexpected error occurred ({kind}). The worker's log says more."
DATABASE_AWAY = "The database did not answer. Nothing was saved; try again later."
DISK_FULL = "The disk was full. Nothing was saved; try again later."


def is_abandoned(now: datetime) -> Q:
    """Return the filter for running jobs whose lease is no longer renewed.

    A lease much longer than `LEASE` comes from a clock that has been set back since; waiting for it
    might take hours. Clocks of several machines may differ by one `LEASE`.
    """
    return Q(state=Job.State.RUNNING) & (
        Q(lease_until__lt=now) | Q(lease_until__gt=now + 2 * LEASE)
    )


class Cancelled(Exception):
    """The job was cancelled; raised from inside `Progress`."""


class LeaseLost(Exception):
    """Another worker has taken the job over; raised from inside `Progress`."""


class Progress:
    """The progress of a job, reported by the work and written to the row by a thread every second.

    The work itself never writes to the job row: inside a long transaction the progress would be
    invisible, and the row would be locked for the thread that renews the lease.
    """

    def __init__(self) -> None:
        self.step = ""
        self.began: datetime | None = None
        self.done = 0
        self.total: int | None = None
        self._stop: Exception | None = None

    def start(self, total: int | None, step: str) -> None:
        """Begin a step of `total` units (None: not known); people read its name `step`."""
        self.step, self.done, self.total, self.began = step, 0, total, timezone.now()
        self.check()

    def advance(self, n: int = 1) -> None:
        """Count `n` units as done; raise `Cancelled` or `LeaseLost` if the work must stop here."""
        self.done += n
        self.check()

    def check(self) -> None:
        """Raise `Cancelled` or `LeaseLost` if the work must stop here."""
        if self._stop is not None:
            raise self._stop

    def stop(self, reason: Exception) -> None:
        """Make the next report raise `reason`."""
        self._stop = reason


def run(pk: int) -> bool:
    """Run the job with key `pk` as its kind does it; see `run_work`."""
    job = Job.objects.filter(pk=pk).first()
    return job is not None and run_work(pk, import_string(job_kinds()[job.kind].WORK))


def run_work(pk: int, work: Callable[[Any, Progress], object]) -> bool:
    """Run `work(job, progress)` for the job with key `pk`, unless it is over or already running.

    Returns whether this call finished it. The row ends as done, cancelled or failed; an exception
    of `work` is raised again after the row is updated. The message of a `JobError` is shown to
    people, also that of `Refused`, which is raised as one; that of any other exception is only in
    the log. If the database did not answer, the row waits again, up to `MAX_ATTEMPTS` times. `work`
    may run more than once, so it must be repeatable; it saves its result with `save_result`.
    """
    claim = claim_row(pk)
    if claim is None:
        return False
    [job] = specific(Job.objects.filter(pk=pk))
    with job_context(f"{job.kind} {pk}", job.request):
        return _run_claimed(job, claim, work)


def save_result(job: Job, **fields: Any) -> None:
    """Write fields of a running job's kind into its row, and into `job`.

    Raises LeaseLost if another worker has taken the job over; until the transaction ends, none can.
    """
    with transaction.atomic():
        rows = Job.objects.select_for_update(no_key=True).filter(pk=job.pk, claim=job.claim)
        if rows.first() is None:
            raise LeaseLost
        type(job)._default_manager.filter(pk=job.pk).update(**fields)
    for name, value in fields.items():
        setattr(job, name, value)


def _run_claimed(job: Job, claim: uuid.UUID, work: Callable[[Any, Progress], object]) -> bool:
    """Run claimed work and record how it ended."""
    progress = Progress()
    if job.cancel_requested_at is not None:
        return _end(job, claim, progress, Job.State.CANCELLED)
    try:
        with _Pulse(job, claim, progress):
            work(job, progress)
    except Cancelled:
        return _end(job, claim, progress, Job.State.CANCELLED)
    except LeaseLost:
        return _log_takeover(job)
    except Refused as refused:
        _end(job, claim, progress, Job.State.FAILED, error=str(refused))
        raise JobError(str(refused)) from refused
    except Exception as error:
        if is_away(error) and not is_full(error) and job.attempts < MAX_ATTEMPTS:
            _requeue(job, claim)
            raise
        _end(job, claim, progress, Job.State.FAILED, error=_error_sentence(error))
        raise
    except BaseException:
        # The worker is being stopped; the work did not fail. The next worker starts it again.
        _requeue(job, claim)
        raise
    return _end(job, claim, progress, Job.State.DONE)


def claim_row(pk: int, *, now: datetime | None = None) -> uuid.UUID | None:
    """Claim the job `pk` by one UPDATE and return the claim; None if it is over or claimed."""
    now = now or timezone.now()
    claim = uuid.uuid4()
    claimed = (
        Job.objects.filter(pk=pk)
        .filter(Q(state=Job.State.QUEUED) | is_abandoned(now) & Q(attempts__lt=MAX_ATTEMPTS))
        .update(
            state=Job.State.RUNNING,
            claim=claim,
            lease_until=now + LEASE,
            attempts=F("attempts") + 1,
            started_at=Coalesce("started_at", models.Value(now)),
            step="",
            step_began_at=None,
            done=0,
            total=None,
        )
    )
    return claim if claimed else None


def _error_sentence(error: Exception) -> str:
    if isinstance(error, JobError):
        return str(error)
    if is_full(error):
        return DISK_FULL
    if is_away(error):
        return DATABASE_AWAY
    return UNEXPECTED.format(kind=type(error).__name__)


def _end(
    job: Job, claim: uuid.UUID, progress: Progress, state: Job.State, *, error: str = ""
) -> bool:
    """Record how the job ended and return True; return False if the row is no longer ours."""
    _renew_connection()
    now = timezone.now()
    ended = Job.objects.filter(pk=job.pk, claim=claim)
    if state == Job.State.CANCELLED:
        # The work itself may raise Cancelled without a request in the row.
        ended.filter(cancel_requested_at=None).update(cancel_requested_at=now)
    count = ended.update(
        state=state,
        claim=None,
        lease_until=None,
        finished_at=now,
        error=error,
        step=progress.step,
        done=progress.done,
        total=progress.total,
    )
    return True if count else _log_takeover(job)


def _log_takeover(job: Job) -> bool:
    logger.warning("%s %s was taken over by another worker", job.kind, job.pk)
    return False


def _requeue(job: Job, claim: uuid.UUID) -> None:
    """Queue the job again; the reconciler publishes it at its next round."""
    _renew_connection()
    Job.objects.filter(pk=job.pk, claim=claim).update(
        state=Job.State.QUEUED, claim=None, lease_until=None, published_at=None
    )


def _renew_connection() -> None:
    """Close a database connection that broke during the work."""
    if not connection.in_atomic_block:
        connection.close_if_unusable_or_obsolete()


class _Pulse:
    """A thread that writes progress, renews the lease and checks for cancelling, once a second.

    It has its own database connection, so that neither a long transaction nor a long computation of
    the work delays it.
    """

    def __init__(self, job: Job, claim: uuid.UUID, progress: Progress) -> None:
        self._rows = Job.objects.filter(pk=job.pk, claim=claim)
        self._progress = progress
        self._over = threading.Event()
        self._thread = threading.Thread(
            # So that its log lines name the same job.
            target=copy_context().run,
            args=[self._run],
            name=f"pulse of {job.kind} {job.pk}",
            daemon=True,
        )

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *exception: object) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            while not self._over.wait(PULSE):
                try:
                    self._beat()
                except DatabaseError:
                    # The database is busy or restarting. The lease outlasts many failed beats.
                    logger.warning("%s: no beat", self._thread.name, exc_info=True)
                    connection.close()
        finally:
            connection.close()

    def _beat(self) -> None:
        progress = self._progress
        renewed = self._rows.update(
            lease_until=timezone.now() + LEASE,
            step=progress.step,
            step_began_at=progress.began,
            done=progress.done,
            total=progress.total,
        )
        if not renewed:
            progress.stop(LeaseLost())
        elif self._rows.filter(cancel_requested_at__isnull=False).exists():
            progress.stop(Cancelled())
