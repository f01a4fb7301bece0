"""Releases: making one, taking its files, and comparing two."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import FileResponse, Http404, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.judgments.blindness import must_answer_first
from annotate.projects.access import lead
from annotate.projects.models import Membership
from base.api.jobs import JobSerializer
from base.api.paging import invalid_cursor, page_response, page_size, requested_cursor
from base.api.resource import QueryParameters, RequestBody, Resource, Scope, reads, writes
from base.csv_output import csv_lines
from exporters.exports import access as exports_access
from exporters.exports.api import COUNTS, FileFactsSerializer
from exporters.exports.download_log import taken
from exporters.releases import access, comparison, contents, file_store
from exporters.releases import actions as releasing
from exporters.releases.comparison import Comparison
from exporters.releases.models import Release
from exporters.releases.preview import preview

# Between the parts of a place in a list: no id holds it.
_TAB = "\t"


class SentRelease(RequestBody):
    """Under which name a project is frozen, and what for."""

    name = serializers.CharField(max_length=60)
    note = serializers.CharField(max_length=releasing.MAX_NOTE, required=False, allow_blank=True)


class ReleaseSerializer(JobSerializer):
    """A release. Nothing of what it holds is told before it is made, nor to a lead who is still
    blind.
    """

    name = serializers.CharField()
    note = serializers.CharField(allow_blank=True)
    by = serializers.CharField(source="by.name", allow_null=True, default=None)
    at = serializers.DateTimeField(allow_null=True, help_text="The moment whose rows it holds.")
    guideline = serializers.IntegerField(source="guideline.version", allow_null=True, default=None)
    code_version = serializers.CharField(allow_blank=True)
    sha256 = serializers.SerializerMethodField()
    counts = serializers.SerializerMethodField()

    def get_sha256(self, release: Release) -> str:
        """The sum of release.json, which stands for all of it."""
        return "" if self.context["blind"] else release.sha256

    @extend_schema_field(COUNTS)
    def get_counts(self, release: Release) -> dict[str, int] | None:
        """The counts of all formats together."""
        if self.context["blind"] or release.state != Release.State.DONE:
            return None
        return contents.all_counts(contents.of(release))


class FullReleaseSerializer(ReleaseSerializer):
    """A release with its files and the sentence by which it is cited."""

    files = serializers.SerializerMethodField()
    citation = serializers.SerializerMethodField()

    @extend_schema_field(FileFactsSerializer(many=True))
    def get_files(self, release: Release) -> list[dict[str, Any]]:
        """Every file, release.json first."""
        if self.context["blind"] or release.state != Release.State.DONE:
            return []
        return [dict(entry) for entry in contents.files(release).values()]

    def get_citation(self, release: Release) -> str:
        """How a paper names exactly this release."""
        if self.context["blind"] or release.state != Release.State.DONE:
            return ""
        return contents.citation(release)


class CountedSerializer(serializers.Serializer[Any]):
    """A count with its words."""

    words = serializers.CharField()
    count = serializers.IntegerField()


class OutsideSerializer(serializers.Serializer[Any]):
    """A pair of whose relevant documents too few or too many drop out."""

    pair = serializers.IntegerField(source="pair.pk")
    pair_id = serializers.CharField(source="pair.pair_id")
    dropped = serializers.IntegerField()
    of = serializers.IntegerField(help_text="Documents that were relevant and are judged.")
    open = serializers.IntegerField(help_text="Documents that are disputed or not judged.")
    percent = serializers.FloatField()


class ReleasePreviewSerializer(serializers.Serializer[Any]):
    """What a release would hold if it were made now, and what is still open."""

    counts = CountedSerializer(many=True)
    guidelines = serializers.IntegerField(allow_null=True)
    warnings = serializers.ListField(child=serializers.CharField())
    share_range = serializers.ListField(
        child=serializers.IntegerField(),
        allow_null=True,
        help_text="Least and most percent that may drop out; null without such a rule.",
    )
    outside_share = OutsideSerializer(many=True)


class ContrastingSerializer(serializers.Serializer[Any]):
    """A count in both releases."""

    key = serializers.CharField()
    words = serializers.CharField()
    before = serializers.IntegerField()
    after = serializers.IntegerField()


class RuleChangeSerializer(serializers.Serializer[Any]):
    """A rule that differs."""

    about = serializers.CharField()
    before = serializers.CharField(allow_blank=True)
    after = serializers.CharField(allow_blank=True)


class ComparisonSerializer(serializers.Serializer[Any]):
    """Two releases side by side."""

    before = serializers.CharField()
    after = serializers.CharField()
    counts = ContrastingSerializer(many=True)
    rules = RuleChangeSerializer(many=True)


class ChangeSerializer(serializers.Serializer[Any]):
    """Something that differs: of a grade what stands in the qrels, of a narrative or the text of a
    document its version, of a query or pair whether it is there; empty where it is not, and of a
    document that had one text at most.
    """

    change = serializers.ChoiceField(choices=["query", "pair", "text", "narrative", "grade"])
    narrative = serializers.CharField(allow_blank=True)
    query_id = serializers.CharField(allow_blank=True, help_text="Empty of a text.")
    pair_id = serializers.CharField(allow_blank=True)
    doc_id = serializers.CharField(allow_blank=True)
    before = serializers.CharField(allow_blank=True)
    after = serializers.CharField(allow_blank=True)


class AskedChanges(QueryParameters):
    """What kind of difference."""

    show = serializers.ChoiceField(
        choices=["listed", "texts", "narratives", "grades"], default="grades"
    )


class Releases(Resource):
    """The releases of a project."""

    tag = "Releases"

    @reads(ReleaseSerializer, paged=True, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> Response:
        """List the releases, the newest first."""
        member = lead(self.person, slug)
        found = Release.objects.filter(project=member.project_id)
        context = {"blind": must_answer_first(member)}
        return self.page(
            found.select_related("by", "project", "guideline").defer("guideline__text"),
            lambda rows: list(ReleaseSerializer(rows, many=True, context=context).data),
            newest_first=True,
        )

    @writes(FullReleaseSerializer, body=SentRelease, scope=Scope.LEAD, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Freeze the project under a name. A release is never changed or deleted."""
        member = lead(self.person, slug)
        given = self.body()
        made = releasing.request_release(
            project=member.project, name=given["name"], note=given.get("note", ""), by=member
        )
        return Response(_as_json(member, made), status=201)


class ReleasePreview(Resource):
    """What a release would hold."""

    tag = "Releases"

    @reads(ReleasePreviewSerializer, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> Response:
        """Count what would be in it now, and what is still open. 403 for who is still blind."""
        member = lead(self.person, slug)
        if must_answer_first(member):
            raise PermissionDenied(exports_access.BLIND)
        found = preview(member)
        told = {
            "counts": [{"words": words, "count": count} for words, count in found.counts],
            "guidelines": found.guidelines,
            "warnings": found.warnings,
            "share_range": found.share_range,
            "outside_share": found.outside_share,
        }
        return Response(ReleasePreviewSerializer(told).data)


class OneRelease(Resource):
    """One release."""

    tag = "Releases"

    @reads(FullReleaseSerializer, scope=Scope.LEAD)
    def get(self, request: Request, slug: str, release: str) -> Response:
        """Read how it is coming on, and what it holds."""
        return Response(_as_json(*access.release(self.person, slug, release)))


class ReleaseCancellation(Resource):
    """Calling a release off."""

    tag = "Releases"

    @writes(FullReleaseSerializer, scope=Scope.LEAD)
    def post(self, request: Request, slug: str, release: str) -> Response:
        """Call it off while it is being made; one that is made stays."""
        member, found = access.release(self.person, slug, release)
        releasing.cancel_release(release=found, by=member)
        found.refresh_from_db()
        return Response(_as_json(member, found))


class ReleaseFile(Resource):
    """One file of a release."""

    tag = "Releases"

    @reads(OpenApiTypes.BINARY, media="application/octet-stream", scope=Scope.LEAD)
    def get(self, request: Request, slug: str, release: str, name: str) -> FileResponse:
        """Take it, once it was found to be what was kept."""
        member, (found,) = access.made_releases(self.person, slug, release)
        entry = contents.files(found).get(name)
        if entry is None:
            raise Http404("There is no such file in this release.")
        try:
            stream = file_store.checked(found.project_id, entry)
        except file_store.Damaged as damaged:
            raise Http404(str(damaged)) from damaged
        taken(what="release.taken", of=found, name=name, by=member)
        return FileResponse(
            stream,
            as_attachment=True,
            filename=f"{found.project.slug}-{found.name}-{name.replace('/', '-')}",
            content_type="application/octet-stream",
        )


class ReleasesCompared(Resource):
    """Two releases side by side."""

    tag = "Releases"

    @reads(ComparisonSerializer, scope=Scope.LEAD)
    def get(self, request: Request, slug: str, before: str, after: str) -> Response:
        """Tell how their counts and rules differ."""
        compared = _compared(self, slug, before, after)
        rules = [
            {"about": about, "before": was, "after": now} for about, was, now in compared.rules()
        ]
        told = {
            "before": before,
            "after": after,
            "counts": compared.counts(),
            "rules": rules,
        }
        return Response(ComparisonSerializer(told).data)


class ReleaseChanges(Resource):
    """What differs between two releases."""

    tag = "Releases"

    @reads(ChangeSerializer, parameters=AskedChanges, paged=True, scope=Scope.LEAD)
    def get(self, request: Request, slug: str, before: str, after: str) -> Response:
        """List grades, narratives, texts of documents, or queries and pairs that differ."""
        compared = _compared(self, slug, before, after)
        show, given = self.parameters()["show"], requested_cursor(request)
        behind = tuple(given.split(_TAB)) if given else ()
        if given and len(behind) != _PARTS[show]:
            raise invalid_cursor()
        rows: Iterator[Any] = {
            "listed": compared.listed,
            "texts": compared.texts,
            "narratives": compared.narratives,
            "grades": compared.grades,
        }[show]()
        found = comparison.part(rows, behind, page_size(request))
        told = [
            dict(zip(comparison.TABLE, comparison.line(one), strict=True)) for one in found.rows
        ]
        following = _TAB.join(found.following) if found.following else None
        return page_response(request, ChangeSerializer(told, many=True).data, following)


class ReleaseChangesTable(Resource):
    """What differs between two releases, as a table."""

    tag = "Releases"

    @reads(OpenApiTypes.STR, media="text/csv", scope=Scope.LEAD)
    def get(self, request: Request, slug: str, before: str, after: str) -> StreamingHttpResponse:
        """Take all of it."""
        compared = _compared(self, slug, before, after)
        return StreamingHttpResponse(
            csv_lines(comparison.table(compared)), content_type="text/csv; charset=utf-8"
        )


# Of how many parts the place in each list is made.
_PARTS = {"listed": 2, "texts": 1, "narratives": 2, "grades": 3}


def _as_json(member: Membership, release: Release) -> dict[str, Any]:
    context = {"blind": must_answer_first(member)}
    return dict(FullReleaseSerializer(release, context=context).data)


def _compared(resource: Resource, slug: str, before: str, after: str) -> Comparison:
    """The two releases side by side; 404 where a file of one is not what was kept."""
    _member, (one, other) = access.made_releases(resource.person, slug, before, after)
    if one == other:
        raise Http404("These are one release: choose two different ones.")
    try:
        return Comparison(one, other)
    except file_store.Damaged as damaged:
        raise Http404(str(damaged)) from damaged
