"""Cancel a job of a project: a load, a pool, a report, an export, a release or an evaluation."""

from __future__ import annotations

from datetime import datetime
from typing import TypeVar

from django.db import transaction
from django.utils.translation import gettext as _

from annotate.projects.audit_log import record
from annotate.projects.models import Membership, Project
from base.errors import Refused
from jobs import queue
from jobs.models import Job

SomeJob = TypeVar("SomeJob", bound=Job)


def cancel_job(
    *, job: SomeJob, by: Membership, named: str = "", now: datetime | None = None
) -> SomeJob:
    """Cancel a job and return it; one that has ended is left unchanged.

    `named`: its name in the audit log, if not its own. Refused: a member who is not a lead.
    """
    project: Project = job.project  # type: ignore[attr-defined]
    if not by.leads or by.project_id != project.pk:
        raise Refused(_("Only leads of this project can cancel its jobs."))
    with transaction.atomic():
        over = job.is_over or job.cancel_requested_at is not None
        queue.cancel(job, now=now)
        if not over:
            what = f"{job.event}.cancelled"
            record(project=project, what=what, about=job, named=named, by=by, now=now)
    return job
