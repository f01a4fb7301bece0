"""Recover jobs whose message the broker lost or whose worker was killed."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from django.db.models import Q
from django.utils import timezone

from jobs.models import Job
from jobs.queue import publish
from jobs.runner import GIVEN_UP, MAX_ATTEMPTS, is_abandoned

logger = logging.getLogger(__name__)

# A message not taken for this long may be lost. If it is not, a second one does no harm.
OVERDUE = timedelta(seconds=60)
# A request commits, then publishes; this is the time allowed in between.
SOON = timedelta(seconds=10)


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
