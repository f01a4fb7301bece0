"""API of releases: make one, download its files, and compare two."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import FileResponse, Http404, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.judgments.blindness import must_answer_first
from annotate.judgments.rule_report import PairStatus
from annotate.projects.access import lead
from annotate.projects.api import JobSerializer
from base.api.bodies import FormBody
from base.api.records import RecordSerializer, serializer_of
from base.api.resource import (
    QueryParameters,
    Resource,
    Scope,
    invalid_cursor,
    page_response,
    page_size,
    reads,
    requested_cursor,
    writes,
)
from base.csv_output import csv_response
from exporters.exports import access as exports_access
from exporters.exports.api import COUNTS
from exporters.exports.files import FileFacts
from exporters.exports.manifest.rule_facts import RuleFacts
from exporters.releases import access, comparison, contents, file_store
from exporters.releases import actions as releasing
from exporters.releases.comparison import LISTS, Change, Comparison, CountChange, RuleChange
from exporters.releases.forms import ReleaseForm
from exporters.releases.models import Release
from exporters.releases.preview import (
    Counted,
    FormatCheck,
    Preview,
    preview,
    try_release,
)

# Separates the parts of a list cursor: no id contains it.
_TAB = "\t"


class SentRelease(FormBody):
    """The name and note of a new release."""

    class Meta:
        form = ReleaseForm
        fields = ("name", "note")


class ReleaseSerializer(JobSerializer):
    """A release. Its content is hidden until it is made, and from a lead who is still blind."""

    name = serializers.CharField()
    note = serializers.CharField(allow_blank=True)
    by = serializers.CharField(source="by.name", allow_null=True, default=None)
    at = serializers.DateTimeField(allow_null=True, help_text="The time of the snapshot.")
    guideline = serializers.IntegerField(source="guideline.version", allow_null=True, default=None)
    code_version = serializers.CharField(allow_blank=True)
    sha256 = serializers.SerializerMethodField()
    counts = serializers.SerializerMethodField()

    def get_sha256(self, release: Release) -> str:
        """Return the checksum of release.json, which covers the whole release."""
        return "" if self.context["blind"] else release.sha256

    @extend_schema_field(COUNTS)
    def get_counts(self, release: Release) -> dict[str, int] | None:
        """Return the counts of all formats together."""
        if self.context["blind"] or release.state != Release.State.DONE:
            return None
        return contents.all_counts(contents.of(release))


class FullReleaseSerializer(ReleaseSerializer):
    """A release with its files and citation."""

    files = serializers.SerializerMethodField()
    citation = serializers.SerializerMethodField()

    @extend_schema_field(serializer_of(FileFacts)(many=True))
    def get_files(self, release: Release) -> list[dict[str, Any]]:
        """Return every file, release.json first."""
        if self.context["blind"] or release.state != Release.State.DONE:
            return []
        return [dict(entry) for entry in contents.files(release).values()]

    def get_citation(self, release: Release) -> str:
        """Return a sentence that cites exactly this release."""
        if self.context["blind"] or release.state != Release.State.DONE:
            return ""
        return contents.citation(release)


class OutsideSerializer(RecordSerializer):
    """A pair with too few or too many relevant documents that drop out."""

    pair = serializers.IntegerField(source="pair.pk")
    pair_id = serializers.CharField(source="pair.pair_id")
    dropped = serializers.IntegerField(source="counts.dropped")
    of = serializers.IntegerField(
        source="counts.known_of_relevant", help_text="Documents that were relevant and are judged."
    )
    open = serializers.IntegerField(
        source="counts.open", help_text="Documents that are disputed or not judged."
    )
    percent = serializers.FloatField(source="counts.dropped_percent")

    class Meta:
        record = PairStatus
        fields = ("pair", "pair_id", "dropped", "of", "open", "percent")


class ReleasePreviewSerializer(RecordSerializer):
    """What a release would hold if it were made now, and what is still open."""

    formats = serializer_of(FormatCheck)(many=True)
    expected_warnings = serializers.ListField(
        child=serializers.CharField(), help_text="The warnings that the release would have."
    )
    publication = serializers.ListField(
        child=serializers.CharField(), help_text="What the publication settings lack."
    )
    findings = serializer_of(Counted)(many=True, help_text="What to look at before publishing.")
    broken_rules = serializer_of(RuleFacts)(many=True)
    last = serializers.CharField(allow_null=True, help_text="The newest release.")
    changes = serializers.ListField(
        child=serializers.CharField(), help_text="What changed since the newest release."
    )

    class Meta:
        record = Preview


class ComparisonSerializer(serializers.Serializer[Any]):
    """Two releases side by side."""

    before = serializers.CharField()
    after = serializers.CharField()
    counts = serializer_of(CountChange)(many=True)
    rules = serializer_of(RuleChange)(many=True)


class AskedChanges(QueryParameters):
    """The kind of differences to list."""

    show = serializers.ChoiceField(choices=LISTS, default="grades")


class Releases(Resource, tag="Releases"):
    """The releases of a project."""

    @reads(ReleaseSerializer, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List the releases, the newest first."""
        member = lead(self.person, slug)
        releases = Release.objects.filter(project=member.project_id)
        releases = releases.select_related("by", "project", "guideline").defer("guideline__text")
        return self.page(releases, newest_first=True, blind=must_answer_first(member))

    @writes(FullReleaseSerializer, body=SentRelease, scope=Scope.LEAD, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Freeze the project under a name. A release is never changed or deleted."""
        member = lead(self.person, slug)
        made = releasing.request_release(project=member.project, **self.body(), by=member)
        return Response(self.shape(made, blind=must_answer_first(member)), status=201)


class ReleasePreview(Resource, tag="Releases"):
    """What a release would contain now."""

    @reads(ReleasePreviewSerializer)
    def get(self, request: Request, slug: str) -> dict[str, Any]:
        """Count what a release would contain now, and list what is still open or would fail.

        The qrels are written and deleted again. 403 for a lead who is still blind.
        """
        member = lead(self.person, slug)
        if must_answer_first(member):
            raise PermissionDenied(exports_access.BLIND)
        planned = preview(member)
        trial = try_release(member)
        rules = trial.manifest.get("must_hold", []) if trial.manifest else []
        return planned._asdict() | {
            "formats": trial.formats,
            "expected_warnings": trial.manifest["warnings"] if trial.manifest else [],
            "publication": trial.publication,
            "findings": trial.findings,
            "broken_rules": [rule for rule in rules if rule["broken"]],
            "last": trial.last.name if trial.last else None,
            "changes": trial.changes,
        }


class OneRelease(Resource, tag="Releases"):
    """One release."""

    @reads(FullReleaseSerializer)
    def get(self, request: Request, slug: str, release: str) -> Response:
        """Read the progress of a release, and what it holds."""
        member, row = access.release(self.person, slug, release)
        return Response(self.shape(row, blind=must_answer_first(member)))

    @writes(None, status=204, scope=Scope.LEAD)
    def delete(self, request: Request, slug: str, release: str) -> None:
        """Discard a failed or cancelled release."""
        member, row = access.release(self.person, slug, release)
        releasing.discard_release(release=row, by=member)


class ReleaseFile(Resource, tag="Releases"):
    """One file of a release."""

    @reads(OpenApiTypes.BINARY, media="application/octet-stream")
    def get(self, request: Request, slug: str, release: str, name: str) -> FileResponse:
        """Download a file, after verifying its checksum."""
        member, (row,) = access.made_releases(self.person, slug, release)
        try:
            return releasing.send_file(member, row, name)
        except file_store.Damaged as damaged:
            raise Http404(str(damaged)) from damaged


class ReleasesCompared(Resource, tag="Releases"):
    """Two releases side by side."""

    @reads(ComparisonSerializer)
    def get(self, request: Request, slug: str, before: str, after: str) -> dict[str, Any]:
        """Read how their counts and rules differ."""
        compared = _compare(self, slug, before, after)
        counts, rules = compared.counts(), compared.rules()
        return {"before": before, "after": after, "counts": counts, "rules": rules}


class ReleaseChanges(Resource, tag="Releases"):
    """The differences between two releases."""

    @reads(Change, parameters=AskedChanges, paged=True)
    def get(self, request: Request, slug: str, before: str, after: str) -> Response:
        """List grades, narratives, texts of documents, or queries and pairs that differ."""
        compared = _compare(self, slug, before, after)
        show, cursor = self.parameters()["show"], requested_cursor(request)
        behind = tuple(cursor.split(_TAB)) if cursor else ()
        if cursor and len(behind) != _CURSOR_PARTS[show]:
            raise invalid_cursor()
        page = comparison.read_page(compared.changes(show), behind, page_size(request))
        following = _TAB.join(page.following) if page.following else None
        data = serializer_of(Change)(page.rows, many=True).data
        return page_response(request, data, following)


class ReleaseChangesTable(Resource, tag="Releases"):
    """The differences between two releases, as a table."""

    @reads(OpenApiTypes.STR, media="text/csv")
    def get(self, request: Request, slug: str, before: str, after: str) -> StreamingHttpResponse:
        """Download all differences."""
        compared = _compare(self, slug, before, after)
        return csv_response(comparison.table(compared))


# The number of parts of each list's cursor.
_CURSOR_PARTS = {"listed": 2, "texts": 1, "narratives": 2, "grades": 3}


def _compare(resource: Resource, slug: str, before: str, after: str) -> Comparison:
    """Return the comparison of two releases; 404 if a file of one is missing or damaged."""
    _member, (old, new) = access.made_releases(resource.person, slug, before, after)
    if old == new:
        raise Http404("Both are the same release. Choose two different ones.")
    try:
        return Comparison(old, new)
    except file_store.Damaged as damaged:
        raise Http404(str(damaged)) from damaged
