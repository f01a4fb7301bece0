"""The jobs of a project in the API: loads, pools, reports, exports, releases, evaluations."""

from __future__ import annotations

from rest_framework.request import Request

from annotate.projects import access, project_jobs
from base.api.jobs import JobSerializer
from base.api.resource import Resource, Scope, writes
from jobs.models import Job


class JobCancellation(Resource, tag="Projects"):
    """The cancellation of a job."""

    @writes(JobSerializer, scope=Scope.LEAD)
    def post(self, request: Request, slug: str, job: int) -> Job:
        """Cancel a job, whatever its kind; one that has ended is left unchanged."""
        member = access.lead(self.person, slug)
        running = project_jobs.job_of(member, job)
        return project_jobs.cancel_job(job=running, by=member)
