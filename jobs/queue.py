"""Enqueue, cancel and retry jobs, and recover those whose message or worker was lost."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.module_loading import import_string

from jobs.errors import Refused
from jobs.models import Job, specific
from jobs.runner import GIVEN_UP, MAX_ATTEMPTS, is_abandoned

# Open jobs of one person over all projects: uploads, exports, releases, reports.
MOST_OPEN = 30
# The Celery task that runs a job, in `jobs.tasks`.
TASK = "jobs.run"

logger = logging.getLogger(__name__)


# A message not taken for this long may be lost. If it is not, a second one does no harm.
OVERDUE = timedelta(seconds=60)
# A request commits, then publishes; this is the time allowed in between.
SOON = timedelta(seconds=10)


class CannotRetry(Exception):
    """A job cannot be retried; the message is a sentence that says why."""


def enqueue(job: Job) -> None:
    """Publish a saved, queued `job` to the workers once the surrounding transaction commits.

    Raises Refused, which rolls the transaction back, if the person has too many open jobs. If the
    broker does not answer, that is only logged: the row counts, and
    `reconcile` publishes it later.
    """
    _refuse_too_many(job)
    _publish_on_commit(job.pk)


def _publish_on_commit(pk: int) -> None:
    transaction.on_commit(lambda: publish(pk), robust=True)


def _refuse_too_many(job: Job) -> None:
    """Refuse the job of a person who has MOST_OPEN other jobs waiting or running.

    Two simultaneous requests may both pass: the limit keeps one person from filling the queue, and
    a few jobs more do no harm.
    """
    if job.by is None:
        return
    open_jobs = Job.objects.filter(by__user=job.by.user_id, state__in=Job.UNDER_WAY)
    # The count includes `job`, which is already saved.
    if open_jobs.count() > MOST_OPEN:
        raise Refused(
            f"You already have {MOST_OPEN} jobs waiting. Wait until some are done, or cancel some."
        )


def publish(pk: int, *, now: datetime | None = None) -> None:
    """Tell the workers now that the job `pk` is waiting."""
    deliver: Callable[[str, int], None] = import_string(settings.JOBS_DELIVER)
    deliver(TASK, pk)
    Job.objects.filter(pk=pk).update(published_at=now or timezone.now())


def cancel(job: Job, *, now: datetime | None = None) -> Job:
    """Cancel `job` and return it refreshed: at once if it waits, at its next step if it runs.

    A job that is over is not changed; cancelling twice changes nothing.
    """
    now = now or timezone.now()
    rows = Job.objects.filter(pk=job.pk)
    with transaction.atomic():
        rows.filter(state=Job.State.QUEUED).update(
            state=Job.State.CANCELLED, cancel_requested_at=now, finished_at=now
        )
        rows.filter(state=Job.State.RUNNING, cancel_requested_at__isnull=True).update(
            cancel_requested_at=now
        )
    job.refresh_from_db()
    return job


def retry(job: Job, *, by: str) -> bool:
    """Queue a failed `job` again as if it were new; return whether this call did so.

    `by` says for the log who asked. A job that already waits or runs is not changed, so retrying
    twice is harmless. Raises `CannotRetry` if the job is done or cancelled, if what it needs is
    gone, or if another job has taken its place.
    """
    rows = Job.objects.filter(pk=job.pk)
    try:
        with transaction.atomic():
            locked = rows.select_for_update().get()
            if not locked.is_over:
                return False
            if locked.state != Job.State.FAILED:
                raise CannotRetry("Only failed jobs can be tried again.")
            if why := specific([locked])[0].why_not_retryable():
                raise CannotRetry(why)
            rows.update(
                state=Job.State.QUEUED,
                error="",
                attempts=0,
                published_at=None,
                started_at=None,
                finished_at=None,
                cancel_requested_at=None,
                step="",
                done=0,
                total=None,
            )
            _publish_on_commit(job.pk)
    except IntegrityError as error:
        raise CannotRetry(
            "Another job of this kind is running or has this name. Request a new one."
        ) from error
    logger.info("%s %s is done again, asked for by %s", job.kind, job.pk, by)
    return True


def reconcile(*, now: datetime | None = None) -> int:
    """Publish again every job that no worker seems to know of; return how many.

    Jobs whose worker died are also published again, or ended if they were to be cancelled, or
    failed after `MAX_ATTEMPTS`.
    """
    now = now or timezone.now()
    abandoned = Job.objects.filter(is_abandoned(now))
    abandoned.filter(cancel_requested_at__isnull=False).update(
        state=Job.State.CANCELLED, claim=None, lease_until=None, finished_at=now
    )
    given_up = abandoned.filter(attempts__gte=MAX_ATTEMPTS).update(
        state=Job.State.FAILED, claim=None, lease_until=None, finished_at=now, error=GIVEN_UP
    )
    if given_up:
        logger.error("%d jobs given up", given_up)
    waiting = Job.objects.filter(Q(state=Job.State.QUEUED) | is_abandoned(now)).filter(
        Q(published_at__lt=now - OVERDUE)
        | Q(published_at__isnull=True, requested_at__lt=now - SOON)
        # Times in the future: the clock was set back since, so the real age is unknown.
        | Q(published_at__gt=now + OVERDUE)
        | Q(published_at__isnull=True, requested_at__gt=now + OVERDUE)
    )
    keys = list(waiting.order_by("requested_at", "pk").values_list("pk", flat=True))
    for pk in keys:
        publish(pk, now=now)
    return len(keys)
