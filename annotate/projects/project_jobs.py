"""Request and cancel jobs of a project: loads, pools, reports, exports, releases, evaluations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, TypeVar

from django.db import transaction
from django.http import Http404
from django.utils import timezone

from annotate.projects.audit_log import record
from annotate.projects.models import Membership, Project
from base.errors import Refused
from base.lookup import first_or_404
from jobs import queue
from jobs.models import Job, job_models

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
    project = _project_of(job)
    with transaction.atomic():
        # Of two concurrent requests, the second waits here and then finds the first.
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        under_way = type(job)._default_manager.filter(
            project=project,
            state__in=[Job.State.QUEUED, Job.State.RUNNING],
            cancel_requested_at=None,
            requested_by__isnull=False,
        )
        for same_job in under_way.order_by("-pk"):
            if all(getattr(same_job, name) == getattr(job, name) for name in same):
                return same_job
        job.requested_at = now or timezone.now()
        if by is not None:
            job.requested_by = by.user
        job.save()
        if by is not None:
            queue.enqueue(job)
        what, named = f"{job.event}.asked", named or job.name_in_log()
        record(project=project, what=what, about=job, named=named, by=by, now=now)
    return job


def job_of(member: Membership, kind: str, pk: int) -> Job:
    """Return a job of the member's project, or raise Http404; `kind` is its `event`."""
    kinds = {model.event: model for model in job_models() if model.event}
    if kind not in kinds:
        raise Http404("There is no such kind of job.")
    of_project: Mapping[str, Any] = {"pk": pk, "project": member.project_id}
    return first_or_404(
        kinds[kind]._default_manager.filter(**of_project), "There is no such job in this project."
    )


def cancel_job(*, job: SomeJob, by: Membership, now: datetime | None = None) -> SomeJob:
    """Cancel a job and return it; one that has ended is left unchanged.

    Refused: a member who is not a lead.
    """
    project = _project_of(job)
    if not by.leads or by.project_id != project.pk:
        raise Refused("Only leads of this project can cancel its jobs.")
    with transaction.atomic():
        over = job.is_over or job.cancel_requested_at is not None
        queue.cancel(job, now=now)
        if not over:
            what = f"{job.event}.cancelled"
            named = job.name_in_log()
            record(project=project, what=what, about=job, named=named, by=by, now=now)
        if job.state == Job.State.CANCELLED:
            job.discard()
    return job


def _project_of(job: Job) -> Project:
    project: Project = job.project  # type: ignore[attr-defined]
    return project
