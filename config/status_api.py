"""API for the state of the installation; administrators only."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.projects.api import (
    AuditEventSerializer,
    audit_log_form,
)
from annotate.projects.audit_log_page import table
from annotate.projects.forms import AuditLogForm
from base.api.jobs import JobSerializer
from base.api.records import RecordSerializer
from base.api.resource import Resource, Scope, reads, writes
from base.csv_output import csv_response
from base.errors import Refused
from config import installation_status
from jobs import queue
from jobs.models import Job


class JobOfProjectSerializer(JobSerializer):
    """A background job of some project."""

    about = serializers.StringRelatedField[Any](source="*", help_text="What it is about.")
    project = serializers.CharField(source="project.slug")
    by = serializers.CharField(
        source="by.user.username", allow_null=True, help_text="Who requested it."
    )
    attempts = serializers.IntegerField()
    request = serializers.UUIDField(
        format="hex", allow_null=True, help_text="The id of the request, as in the logs."
    )


class StatusSerializer(RecordSerializer):
    """The state of the installation."""

    worker = serializers.BooleanField(
        source="worker.alive", help_text="Whether a worker takes work."
    )
    running = JobOfProjectSerializer(many=True)
    failed = JobOfProjectSerializer(many=True, help_text="The newest 25.")

    class Meta:
        record = installation_status.Status
        fields = ("worker", "workers", "messages", "unapplied", "queues", "running", "failed")


class InstallationStatus(Resource, tag="Installation"):
    """The state of the installation; administrators only."""

    @reads(StatusSerializer)
    def get(self, request: Request) -> installation_status.Status:
        """Return the state of workers, queues and jobs."""
        _check_staff(self)
        return installation_status.read_status()


class JobRetry(Resource, tag="Installation"):
    """A failed job; administrators only."""

    @writes(JobSerializer, scope=Scope.LEAD)
    def put(self, request: Request, job: int) -> Job:
        """Retry a failed job; a job that already waits or runs stays as it is."""
        _check_staff(self)
        row = installation_status.find_job(job)
        if row is None:
            raise Http404("There is no such job.")
        try:
            installation_status.retry_job(job=row, by=self.person)
        except queue.CannotRetry as no:
            raise Refused(str(no)) from no
        row.refresh_from_db()
        return row


class InstallationAuditLog(Resource, tag="Installation"):
    """The installation's audit log: what administrators and commands did."""

    @reads(AuditEventSerializer, parameters=AuditLogForm, paged=True)
    def get(self, request: Request) -> Response:
        """List the events, newest first."""
        _check_staff(self)
        return self.page(audit_log_form(self, None).events(), newest_first=True)


class InstallationAuditLogTable(Resource, tag="Installation"):
    """The installation's audit log as a table."""

    @reads(OpenApiTypes.STR, parameters=AuditLogForm, media="text/csv")
    def get(self, request: Request) -> StreamingHttpResponse:
        """Download all events, oldest first."""
        _check_staff(self)
        return csv_response(table(audit_log_form(self, None).events()))


def _check_staff(resource: Resource) -> None:
    if not resource.person.is_staff:
        raise PermissionDenied("Only administrators of this installation can do that.")
