"""API for the installation: its schema, example projects, and for administrators its state."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer2, OpenApiYamlRenderer2
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotate.projects import access
from annotate.projects.api import (
    AuditEventSerializer,
    FullProjectSerializer,
    JobSerializer,
    audit_log_form,
)
from annotate.projects.audit_log_page import table
from annotate.projects.forms import AuditLogForm
from annotate.projects.models import Membership
from base.api.limits import AlwaysJson
from base.api.records import RecordSerializer
from base.api.resource import RequestBody, Resource, Scope, reads, writes
from base.csv_output import csv_response
from base.errors import Refused
from config import installation_status
from config.examples.making import Example, kinds_with_examples, make_example, read_examples
from config.request_guard import content_policy
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


@cache
def schema() -> dict[str, Any]:
    """Return the API schema of all apps; generated once, because it takes a second."""
    generated: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return generated


@cache
def render_schema(form: str) -> bytes:
    """Return the schema as `yaml` or `json`."""
    renderer = OpenApiJsonRenderer2() if form == "json" else OpenApiYamlRenderer2()
    text: bytes = renderer.render(schema(), renderer_context={})
    return text


class Schema(APIView):
    """The API schema in YAML or, with `?form=json`, in JSON."""

    permission_classes = (IsAuthenticated,)
    content_negotiation_class = AlwaysJson
    # The schema does not include this route.
    schema = None

    def get(self, request: Request) -> HttpResponse:
        """Return the schema."""
        form = "json" if request.query_params.get("form") == "json" else "yaml"
        media = "application/json" if form == "json" else "application/yaml"
        return HttpResponse(render_schema(form), content_type=f"{media}; charset=utf-8")


@require_GET
def schema_page(request: HttpRequest) -> HttpResponse:
    """Show the schema in the packaged Swagger UI, whose icons are `data:` URLs."""
    page = render(request, "api/schema.html")
    page.headers["Content-Security-Policy"] = content_policy(pictures="data:")
    return page


class SentExample(RequestBody):
    """The kind of the example to make."""

    kind = serializers.ChoiceField(choices=kinds_with_examples())


class Examples(Resource, tag="Projects"):
    """Example projects, one for each kind."""

    @reads(Example, many=True)
    def get(self, request: Request) -> Iterable[Any]:
        """List the examples that you can make."""
        return read_examples()

    @writes(FullProjectSerializer, body=SentExample, status=201, scope=Scope.LEAD)
    def post(self, request: Request) -> Membership:
        """Make an example project of a kind, which you lead; it takes a few seconds."""
        made = make_example(**self.body(), by=self.person)
        return access.member(self.person, made.slug)
