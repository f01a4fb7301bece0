"""Handing work to the workers, and calling it off."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.module_loading import import_string
from django.utils.translation import gettext as _

from jobs.errors import Refused
from jobs.models import Job, job_models

# Of one person, over all projects: uploads, exports, releases, reports.
MOST_OPEN = 30

logger = logging.getLogger(__name__)


class NotAgain(Exception):
    """A job cannot be done again; the message says why, in a sentence."""


def enqueue(job: Job) -> None:
    """Hand a saved, queued `job` to the workers as soon as the transaction around it is committed.

    Refused, so that the transaction is rolled back: who has too much waiting already. A broker that
    does not answer is logged and changes nothing for the caller: the row is what counts, and
    `jobs.reconcile` publishes it later.
    """
    _refuse_flood(job)
    _hand_over(job)


def _hand_over(job: Job) -> None:
    def publish_it() -> None:
        publish(type(job), job.pk)

    transaction.on_commit(publish_it, robust=True)


def _refuse_flood(job: Job) -> None:
    """Refuse a job of who has MOST_OPEN others, of whatever kind, that wait or run.

    Two requests of one moment may both pass: the limit keeps a queue from being anybody's to fill,
    and a few more do not.
    """
    if job.requested_by_id is None:
        return
    others = sum(
        _rows(model)
        .filter(requested_by=job.requested_by_id, state__in=[Job.State.QUEUED, Job.State.RUNNING])
        .count()
        for model in job_models()
    )
    # `job` is saved, and so among them.
    if others > MOST_OPEN:
        raise Refused(
            _("%(most)d jobs of yours are waiting already. Let some end, or call them off.")
            % {"most": MOST_OPEN}
        )


def publish(model: type[Job], pk: int, *, now: datetime | None = None) -> None:
    """Tell the workers now that row `pk` of `model` waits for one of them."""
    deliver: Callable[[str, int], None] = import_string(settings.JOBS_DELIVER)
    deliver(model.task, pk)
    _rows(model).filter(pk=pk).update(published_at=now or timezone.now())


def cancel(job: Job, *, now: datetime | None = None) -> Job:
    """Call `job` off and return it anew: at once if it waits, at its next step if it runs.

    A job that is over stays as it is; asking twice changes nothing.
    """
    now = now or timezone.now()
    rows = _rows(type(job)).filter(pk=job.pk)
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
    """Let a `job` that failed be done again, as if for the first time; return whether this did it.

    `by` says for the log who asked. One that waits or runs already stays as it is, so asking twice
    is harmless. Raises `NotAgain` where it is over otherwise, where what it needs is gone, or where
    another has taken its place.
    """
    rows = _rows(type(job)).filter(pk=job.pk)
    try:
        with transaction.atomic():
            locked = rows.select_for_update().get()
            if not locked.is_over:
                return False
            if locked.state != Job.State.FAILED:
                raise NotAgain(_("Only what failed can be done again."))
            if why := locked.why_not_again():
                raise NotAgain(why)
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
            _hand_over(locked)
    except IntegrityError as error:
        raise NotAgain(
            _("Another of its kind is under way, or has its name now. Ask for a new one.")
        ) from error
    logger.info("%s %s is done again, asked for by %s", job.label(), job.pk, by)
    return True


def _rows(model: type[Job]) -> QuerySet[Job]:
    return model._default_manager.all()
