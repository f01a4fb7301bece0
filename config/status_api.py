"""API for the state of the installation; administrators only."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.projects.api.audit_log import (
    AskedAuditLog,
    AuditEventSerializer,
    events_response,
    table_response,
)
from base.api.jobs import JobSerializer, job_as_json
from base.api.resource import Resource, Scope, reads, writes
from base.errors import Refused
from config import installation_status
from jobs import queue, status
from jobs.models import Job


class WorkerSeenSerializer(serializers.Serializer[Any]):
    """A worker that was last seen within a day."""

    name = serializers.CharField()
    alive = serializers.BooleanField()
    seen_at = serializers.DateTimeField()
    took_at = serializers.DateTimeField(
        allow_null=True, help_text="When it last took work; null if never."
    )


class QueueSerializer(serializers.Serializer[Any]):
    """The jobs of one kind."""

    label = serializers.CharField()  # type: ignore[assignment]
    waiting = serializers.IntegerField()
    oldest = serializers.DateTimeField(
        allow_null=True, help_text="When the oldest waiting job was requested."
    )
    running = serializers.IntegerField()
    failed = serializers.IntegerField()


class KindOfJobSerializer(JobSerializer):
    """A job with its kind."""

    label = serializers.CharField(help_text="The kind of job.")  # type: ignore[assignment]


class StatusSerializer(serializers.Serializer[Any]):
    """The state of the installation."""

    worker = serializers.BooleanField(help_text="Whether a worker takes work.")
    workers = WorkerSeenSerializer(many=True)
    messages = serializers.IntegerField(
        allow_null=True, help_text="Messages waiting in the broker; null if it does not answer."
    )
    unapplied = serializers.ListField(
        child=serializers.CharField(), help_text="Migrations that the database lacks."
    )
    queues = QueueSerializer(many=True)
    running = KindOfJobSerializer(many=True)
    failed = KindOfJobSerializer(many=True, help_text="The newest 25.")


class InstallationStatus(Resource, tag="Installation"):
    """The state of the installation; administrators only."""

    @reads(StatusSerializer)
    def get(self, request: Request) -> Response:
        """Return the state of workers, queues and jobs."""
        _check_staff(self)
        failed, _more = installation_status.failed_jobs()
        return Response(
            {
                "worker": status.worker_status().alive,
                "workers": [one._asdict() for one in status.workers()],
                "messages": installation_status.count_messages(),
                "unapplied": installation_status.unapplied_migrations(),
                "queues": [
                    {name: value for name, value in one._asdict().items() if name != "name"}
                    for one in installation_status.queues()
                ],
                "running": [_as_json(job) for job in installation_status.running_jobs()],
                "failed": [_as_json(job) for job in failed],
            }
        )


class JobRetry(Resource, tag="Installation"):
    """A failed job; administrators only."""

    @writes(KindOfJobSerializer, scope=Scope.LEAD)
    def put(self, request: Request, label: str, job: int) -> Response:
        """Retry a failed job; a job that already waits or runs stays as it is."""
        _check_staff(self)
        found = installation_status.find_job(label, job)
        if found is None:
            raise Http404("There is no such job.")
        try:
            installation_status.retry_job(job=found, by=self.person)
        except queue.CannotRetry as no:
            raise Refused(str(no)) from no
        found.refresh_from_db()
        return Response(_as_json(found))


class InstallationAuditLog(Resource, tag="Installation"):
    """The installation's audit log: what administrators and commands did."""

    @reads(AuditEventSerializer, parameters=AskedAuditLog, paged=True)
    def get(self, request: Request) -> Response:
        """List the events, newest first."""
        _check_staff(self)
        return events_response(self, None)


class InstallationAuditLogTable(Resource, tag="Installation"):
    """The installation's audit log as a table."""

    @reads(OpenApiTypes.STR, parameters=AskedAuditLog, media="text/csv")
    def get(self, request: Request) -> StreamingHttpResponse:
        """Download all events, oldest first."""
        _check_staff(self)
        return table_response(self, None)


def _check_staff(resource: Resource) -> None:
    if not resource.person.is_staff:
        raise PermissionDenied("Only administrators of this installation can do that.")


def _as_json(job: Job) -> dict[str, Any]:
    return {**job_as_json(job), "label": job.label()}
