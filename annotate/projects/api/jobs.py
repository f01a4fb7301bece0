"""The jobs of a project in the API: loads, pools, reports, exports, releases, evaluations."""

from __future__ import annotations

from rest_framework import serializers
from rest_framework.request import Request

from annotate.projects import access, project_jobs
from base.api.resource import Resource, Scope, writes
from jobs.models import Job


class JobSerializer(serializers.Serializer[Job]):
    """What is the same for all kinds of jobs."""

    kind = serializers.CharField(source="event")
    id = serializers.IntegerField(source="pk")
    state = serializers.ChoiceField(choices=Job.State.choices)
    requested_at = serializers.DateTimeField()
    cancel_requested_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)


class JobCancellation(Resource, tag="Projects"):
    """The cancellation of a job."""

    @writes(JobSerializer, scope=Scope.LEAD)
    def post(self, request: Request, slug: str, kind: str, job: int) -> Job:
        """Cancel a load, a preview of one, a pool, a report, an export, a release or an evaluation.

        `kind` is load, pool, agreement, export, release or evaluation. A job that has ended is left
        unchanged.
        """
        member = access.lead(self.person, slug)
        running = project_jobs.job_of(member, kind, job)
        return project_jobs.cancel_job(job=running, by=member)
