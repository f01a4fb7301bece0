"""API of exports and publication settings: request exports, follow them, download files."""

from __future__ import annotations

from typing import Any

from django.http import FileResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.judgments.blindness import must_answer_first
from annotate.projects.access import lead
from annotate.projects.api import JobSerializer
from base.api.bodies import FormBody, Settings
from base.api.records import RecordSerializer, serializer_of
from base.api.resource import Resource, Scope, reads, writes
from exporters.exports import access, actions
from exporters.exports.files import FileFacts
from exporters.exports.forms import ExportForm, PublicationForm
from exporters.exports.models import Export, Publication, publication_of
from exporters.exports.proof.proving import Result as ToolResult
from exporters.exports.publishing import set_publication

COUNTS = serializers.DictField(child=serializers.IntegerField(), allow_null=True)


class ProofResultSerializer(RecordSerializer):
    """What one tool read: `same`, `differs`, `failed` or `not installed`, and why."""

    class Meta:
        record = ToolResult
        fields = ("tool", "version", "result", "says")


class ExportSerializer(JobSerializer):
    """An export. Its content is hidden until it is complete, and from a lead who is still blind."""

    format = serializers.ChoiceField(choices=Export.Format.choices)
    by = serializers.CharField(source="by.name")
    proof = serializers.SerializerMethodField()
    counts = serializers.SerializerMethodField()
    files = serializers.SerializerMethodField()

    @extend_schema_field(ProofResultSerializer(many=True))
    def get_proof(self, export: Export) -> list[dict[str, Any]]:
        """Return what each tool read; the file proof.json has the details."""
        if not self._is_offered(export) or export.proof is None:
            return []
        return list(ProofResultSerializer(export.proof["results"], many=True).data)

    @extend_schema_field(COUNTS)
    def get_counts(self, export: Export) -> dict[str, int] | None:
        """Return the counts of the manifest."""
        return export.manifest["counts"] if self._is_offered(export) and export.manifest else None

    @extend_schema_field(serializer_of(FileFacts)(many=True))
    def get_files(self, export: Export) -> list[dict[str, Any]]:
        """Return the files without the manifest, which is the file manifest.json."""
        return export.manifest["files"] if self._is_offered(export) and export.manifest else []

    def _is_offered(self, export: Export) -> bool:
        return export.state == Export.State.DONE and not self.context["blind"]


class Exports(Resource, tag="Exports"):
    """The exports of a project."""

    @reads(ExportSerializer, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List the exports, the newest first."""
        member = lead(self.person, slug)
        exports = Export.objects.filter(project=member.project_id).select_related("by")
        return self.page(exports, newest_first=True, blind=must_answer_first(member))

    @writes(ExportSerializer, body=ExportForm, scope=Scope.LEAD, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Request an export. If one of the same format is queued or running, it is returned."""
        member, body = lead(self.person, slug), self.body()
        made = actions.request_export(
            project=member.project, format_name=body["format"], prove=body["prove"], by=member
        )
        return Response(self.shape(made, blind=must_answer_first(member)), status=201)


class OneExport(Resource, tag="Exports"):
    """One export."""

    @reads(ExportSerializer)
    def get(self, request: Request, slug: str, export: int) -> Response:
        """Read the progress of an export, and which files it has."""
        member, export_row = access.export(self.person, slug, export)
        return Response(self.shape(export_row, blind=must_answer_first(member)))


class ExportFile(Resource, tag="Exports"):
    """One file of an export."""

    @reads(OpenApiTypes.BINARY, media="application/octet-stream")
    def get(self, request: Request, slug: str, export: int, name: str) -> FileResponse:
        """Download a file of the list, manifest.json, or proof.json."""
        return actions.send_file(*access.file(self.person, slug, export, name), name)


class ExportArchive(Resource, tag="Exports"):
    """All files of an export as one archive."""

    @reads(OpenApiTypes.BINARY, media="application/zip")
    def get(self, request: Request, slug: str, export: int) -> FileResponse:
        """Download all files."""
        opened = access.file(self.person, slug, export, access.ARCHIVE)
        return actions.send_archive(*opened)


class PublicationSerializer(Settings, FormBody):
    """The publication settings of a project."""

    class Meta:
        form = PublicationForm


class OnePublication(Resource, tag="Exports"):
    """The publication settings of a project."""

    @reads(PublicationSerializer)
    def get(self, request: Request, slug: str) -> Publication:
        """Read the publication settings."""
        return publication_of(lead(self.person, slug).project)

    @writes(PublicationSerializer, body=PublicationSerializer, scope=Scope.LEAD)
    def patch(self, request: Request, slug: str) -> Publication:
        """Change the publication settings: all that are sent, or none."""
        member = lead(self.person, slug)
        return set_publication(project=member.project, changes=self.body(), by=member)
