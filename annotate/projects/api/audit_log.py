"""The audit log in the API."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.projects import access
from annotate.projects.audit_log_page import audit_events, table
from annotate.projects.forms.audit_log import AuditLogForm
from annotate.projects.models import AuditEvent, Membership
from base.api.resource import QueryParameters, Resource, form_errors, reads
from base.csv_output import csv_response


class AuditEventSerializer(serializers.Serializer[Any]):
    """One action of a lead or an administrator."""

    uuid = serializers.UUIDField()
    at = serializers.DateTimeField()
    who = serializers.CharField(
        source="name", help_text="Their name at that time; empty: a command."
    )
    what = serializers.CharField()
    about = serializers.CharField(help_text="The affected object, by its name at that time.")
    kind = serializers.CharField(help_text="The kind of the affected row ...")
    key = serializers.IntegerField(allow_null=True, help_text="... and its key.")
    words = serializers.CharField()
    changes = serializers.DictField(help_text="By field: the values before and after.")


class AskedAuditLog(QueryParameters):
    """A filter of audit events."""

    who = serializers.CharField(
        required=False, max_length=20, help_text="The key of a user, or: command."
    )
    what = serializers.CharField(required=False, max_length=40)
    since = serializers.DateField(required=False, help_text="From this day on, in your time zone.")
    until = serializers.DateField(required=False, help_text="Up to and including this day.")


class AuditLog(Resource, tag="Audit log"):
    """The audit log of a project."""

    @reads(AuditEventSerializer, parameters=AskedAuditLog, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List the audit events that you may see now, newest first."""
        return events_response(self, access.lead(self.person, slug))


class AuditLogTable(Resource, tag="Audit log"):
    """The audit log of a project as a table."""

    @reads(OpenApiTypes.STR, parameters=AskedAuditLog, media="text/csv")
    def get(self, request: Request, slug: str) -> StreamingHttpResponse:
        """Download the audit events that you may see now as CSV, oldest first."""
        return table_response(self, access.lead(self.person, slug))


def events_response(resource: Resource, reader: Membership | None) -> Response:
    """Return the requested page of an audit log; `reader`: see `audit_log_page`."""
    return resource.page(_matching_events(resource, reader), newest_first=True)


def table_response(resource: Resource, reader: Membership | None) -> StreamingHttpResponse:
    """Return all events that match the request as a table."""
    return csv_response(table(_matching_events(resource, reader)))


def _matching_events(resource: Resource, reader: Membership | None) -> QuerySet[AuditEvent]:
    resource.parameters()
    form = AuditLogForm(reader, resource.request.query_params)
    if not form.is_valid():
        raise form_errors(form, "?")
    return audit_events(reader, form.kinds, form.event_filter())
