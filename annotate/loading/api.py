"""Loading in the API: formats, uploads, their previews and results, and taking a load back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.collection.intake.report import FileReport
from annotate.loading import access, load_jobs
from annotate.loading.forms import LoadConfirmationForm, LoadForm, options_of
from annotate.loading.models import Load
from annotate.loading.taking_back import take_back
from annotate.projects.access import lead
from annotate.projects.api import JobSerializer
from annotate.projects.models import Membership
from base.api.bodies import FormBody
from base.api.limits import LimitedJsonParser
from base.api.records import RecordSerializer, serializer_of
from base.api.resource import Resource, Scope, reads, writes
from formats.registry import FORMATS, Format


class FormatSerializer(RecordSerializer):
    """A file format."""

    class Meta:
        record = Format
        fields = ("name", "title", "description", "kind")


class LoadSerializer(JobSerializer):
    """A file: a preview, the load of a confirmed preview, or the load of a command."""

    format = serializers.CharField()
    file_name = serializers.CharField()
    no_grade = serializers.IntegerField(allow_null=True)
    side = serializers.CharField(
        allow_blank=True, help_text="For a run, if one was given: original, altered or reversed."
    )
    by = serializers.CharField(source="by.name", allow_null=True, help_text="null: a command.")
    despite_rules = serializers.BooleanField(
        help_text="Whether rows that break rules of the project's kind are loaded."
    )
    carry_claims = serializers.BooleanField(
        help_text="Whether machines' claims are carried over to new versions of narratives."
    )
    dry_run = serializers.BooleanField(help_text="Whether it is a preview, which writes nothing.")
    preview = serializers.IntegerField(
        source="preview_id", allow_null=True, help_text="The preview of a load."
    )
    taken_back_at = serializers.DateTimeField(allow_null=True)
    taken_back_by = serializers.CharField(
        source="taken_back_by.name", allow_null=True, default=None
    )


class FullLoadSerializer(LoadSerializer):
    """An uploaded file with its report."""

    report = serializer_of(FileReport)(allow_null=True, help_text="null until the file was read.")
    confirmed_as = serializers.SerializerMethodField(help_text="The load of a confirmed preview.")

    def get_confirmed_as(self, load: Load) -> int | None:
        """Return the key of the load that this preview was confirmed as."""
        return Load.objects.filter(preview=load).values_list("pk", flat=True).first()


class SentOptions(FormBody):
    """How files are read. Without a format, it is recognized by the file."""

    class Meta:
        form = LoadForm
        fields = ("format", "no_grade", "side")


class SentFile(SentOptions):
    """A file and its format, sent as multipart/form-data."""

    file = serializers.FileField(
        max_length=255, help_text="As it is, or gzip; a folder as one zip archive."
    )


class SentFiles(SentOptions):
    """Several files, sent as multipart/form-data; what is said of them holds for each."""

    files = serializers.ListField(child=serializers.FileField(max_length=255))


class LoadBatchSerializer(serializers.Serializer[Any]):
    """Files that were uploaded together, in the order of loading."""

    batch = serializers.UUIDField()
    files = FullLoadSerializer(many=True)


class Formats(Resource, tag="Loading"):
    """The formats of files that can be loaded."""

    @reads(FormatSerializer, many=True)
    def get(self, request: Request) -> Iterable[Any]:
        """List the formats of files that can be loaded."""
        return FORMATS.values()


class Loads(Resource, tag="Loading"):
    """The uploads of a project."""

    parser_classes = (MultiPartParser, LimitedJsonParser)

    @reads(LoadSerializer, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List uploads, newest first: loads, and previews that are not confirmed."""
        by = lead(self.person, slug)
        # As on the page: a confirmed preview is not listed, only its load.
        rows = Load.objects.filter(project=by.project_id, confirmed_as=None)
        rows = rows.select_related("by", "taken_back_by").defer("report")
        return self.page(rows, newest_first=True)

    @writes(FullLoadSerializer, body=SentFile, status=201, scope=Scope.LEAD, apart=True)
    def post(self, request: Request, slug: str) -> Load:
        """Upload a file for a preview. Nothing is written to the project yet."""
        by = lead(self.person, slug)
        sent = self.body()
        return load_jobs.request_load(file=sent["file"], **options_of(sent), by=by)


class SeveralLoads(Resource, tag="Loading"):
    """Several files that are uploaded together."""

    parser_classes = (MultiPartParser, LimitedJsonParser)

    @writes(LoadBatchSerializer, body=SentFiles, status=201, scope=Scope.LEAD, apart=True)
    def post(self, request: Request, slug: str) -> dict[str, Any]:
        """Upload several files for a preview of each. They are ordered by what they refer to."""
        by = lead(self.person, slug)
        sent = self.body()
        batch = load_jobs.request_batch(files=sent["files"], **options_of(sent), by=by)
        return _batch(by, batch)


class LoadBatch(Resource, tag="Loading"):
    """Files that were uploaded together."""

    @reads(LoadBatchSerializer)
    def get(self, request: Request, slug: str, batch: UUID) -> dict[str, Any]:
        """Read each file's load, or its preview, in the order of loading."""
        by, _previews = access.load_batch(self.person, slug, batch)
        return _batch(by, batch)


class BatchConfirmation(Resource, tag="Loading"):
    """The confirmation of files that were uploaded together."""

    @writes(LoadBatchSerializer, scope=Scope.LEAD)
    def put(self, request: Request, slug: str, batch: UUID) -> dict[str, Any]:
        """Load the files without a problem, one after the other; the others stay unloaded."""
        by, _previews = access.load_batch(self.person, slug, batch)
        load_jobs.confirm_batch(project=by.project, batch=batch, by=by)
        return _batch(by, batch)


def _batch(by: Membership, batch: UUID) -> dict[str, Any]:
    previews = load_jobs.previews_of(by.project, batch)
    return {
        "batch": batch,
        "files": [load_jobs.load_of(preview) or preview for preview in previews],
    }


class OneLoad(Resource, tag="Loading"):
    """One upload."""

    @reads(FullLoadSerializer)
    def get(self, request: Request, slug: str, load: int) -> Load:
        """Read the progress of a preview or a load, and its report when it is done."""
        _by, upload = access.load(self.person, slug, load)
        return upload


class Confirmation(Resource, tag="Loading"):
    """The confirmation of a preview."""

    @writes(FullLoadSerializer, body=LoadConfirmationForm, scope=Scope.LEAD)
    def put(self, request: Request, slug: str, load: int) -> Load:
        """Load a previewed file and return the load. Repeating the request changes nothing."""
        by, preview = access.load(self.person, slug, load)
        return load_jobs.confirm_load(preview=preview, by=by, **self.body())


class Recheck(Resource, tag="Loading"):
    """Another check of a refused file."""

    @writes(FullLoadSerializer, status=201, scope=Scope.LEAD)
    def post(self, request: Request, slug: str, load: int) -> Load:
        """Check a refused file again in its `likely_format`, and return the new preview.

        The file moves to the new preview, so this works once. 422: no format is suggested, or the
        file is no longer kept.
        """
        by, preview = access.load(self.person, slug, load)
        return load_jobs.recheck_load(preview=preview, by=by)


class Leaving(Resource, tag="Loading"):
    """Discarding a preview."""

    @writes(None, status=204, scope=Scope.LEAD)
    def put(self, request: Request, slug: str, load: int) -> None:
        """Discard a previewed file without loading it."""
        by, preview = access.load(self.person, slug, load)
        load_jobs.discard_preview(preview=preview, by=by)


class TakingBack(Resource, tag="Loading"):
    """Taking back a load of qrels."""

    @writes(None, status=204, scope=Scope.LEAD)
    def put(self, request: Request, slug: str, load: int) -> None:
        """Undo what a load of qrels wrote, while nothing stands on it."""
        by, upload = access.load(self.person, slug, load)
        take_back(load=upload, by=by)
