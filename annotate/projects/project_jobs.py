"""Request and cancel jobs of a project: loads, pools, reports, exports, releases, evaluations."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TypeVar, cast

from django.db import transaction
from django.http import Http404
from django.utils import timezone

from annotate.projects.audit_log import record
from annotate.projects.models import Membership, Project
from base.errors import Refused
from jobs import queue
from jobs.models import Job, specific

SomeJob = TypeVar("SomeJob", bound=Job)


def request_job(
    job: SomeJob,
    *,
    same: Iterable[str],
    by: Membership | None,
    named: str = "",
    now: datetime | None = None,
) -> SomeJob:
    """Save and enqueue a new job, and return it; `named` is its name in the audit log.

    If a member has requested a job of the project with the same values of the fields `same`, and it
    is queued or running, that one is returned. Without `by` the job is not enqueued, because a
    command does it, so no worker may know of it.
    """
    project = job.project
    with transaction.atomic():
        # Of two concurrent requests, the second waits here and then finds the first.
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        under_way = type(job)._default_manager.filter(
            project=project,
            state__in=Job.UNDER_WAY,
            cancel_requested_at=None,
            by__isnull=False,
        )
        for same_job in under_way.order_by("-pk"):
            if all(getattr(same_job, name) == getattr(job, name) for name in same):
                return cast(SomeJob, same_job)
        job.by, job.requested_at = by, now or timezone.now()
        job.save()
        if by is not None:
            queue.enqueue(job)
        what, named = f"{job.kind}.asked", named or job.name_in_log()
        record(project=project, what=what, about=job, named=named, by=by, now=now)
    return job


def job_of(member: Membership, pk: int) -> Job:
    """Return a job of the member's project, as a row of its kind, or raise Http404."""
    jobs = specific(Job.objects.filter(pk=pk, project=member.project_id))
    if not jobs:
        raise Http404("There is no such job in this project.")
    return jobs[0]


def cancel_job(*, job: SomeJob, by: Membership, now: datetime | None = None) -> SomeJob:
    """Cancel a job and return it; one that has ended is left unchanged.

    Refused: a member who is not a lead.
    """
    project = job.project
    if not by.leads or by.project_id != project.pk:
        raise Refused("Only leads of this project can cancel its jobs.")
    with transaction.atomic():
        over = job.is_over or job.cancel_requested_at is not None
        queue.cancel(job, now=now)
        if not over:
            what = f"{job.kind}.cancelled"
            named = job.name_in_log()
            record(project=project, what=what, about=job, named=named, by=by, now=now)
        if job.state == Job.State.CANCELLED:
            job.discard()
    return job
