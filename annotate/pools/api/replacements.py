"""Replacements of failed documents: preview one, make one, undo one."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.collection.models import Candidate
from annotate.collection.removal import MAX_REASON
from annotate.pools import access, replacing
from annotate.pools.models import Replacement
from annotate.pools.removal import DOCUMENTS
from annotate.projects.models import Membership
from base.api.records import RecordSerializer
from base.api.resource import RequestBody, Resource, Scope, reads, writes


class SentNewDocument(RequestBody):
    """The candidate whose document is replaced, by its ids, and the new document."""

    query_id = serializers.CharField(max_length=255, trim_whitespace=False)
    doc_id = serializers.CharField(max_length=512, trim_whitespace=False)
    new_doc_id = serializers.CharField(max_length=512, trim_whitespace=False)
    title = serializers.CharField(
        max_length=1_000,
        required=False,
        default="",
        allow_blank=True,
        help_text="Of a new document.",
    )
    text = serializers.CharField(
        max_length=replacing.MAX_TEXT,
        required=False,
        default="",
        allow_blank=True,
        trim_whitespace=False,
        help_text="Of a new document; empty for an existing one.",
    )


class SentReplacement(SentNewDocument):
    """A replacement to make."""

    reason = serializers.CharField(max_length=MAX_REASON)
    token = serializers.CharField(
        max_length=64, help_text="From the preview, whose effects must still be the same."
    )


class EffectsSerializer(RecordSerializer):
    """The effects of a replacement."""

    token = serializers.CharField(source="digest")

    class Meta:
        record = replacing.Effects
        fields = (
            *("queries", "judgments", "checks", "claims", "rules", "releases"),
            *("makes_document", "token"),
        )


class ReplacementSerializer(serializers.Serializer[Any]):
    """A replacement."""

    id = serializers.IntegerField()
    old = serializers.CharField(source="old.doc_id")
    new = serializers.CharField(source="new.doc_id")
    reason = serializers.CharField()
    by = serializers.CharField(source="by.name")
    at = serializers.DateTimeField()
    undone_at = serializers.DateTimeField(allow_null=True)
    undone_by = serializers.CharField(source="undone_by.name", allow_null=True)


class ReplacementPreview(Resource, tag="Pools"):
    """The preview of a replacement."""

    @writes(EffectsSerializer, body=SentNewDocument, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> replacing.Effects:
        """Count what a replacement would change. Nothing is written."""
        member = access.lead(self.person, slug)
        body = self.body()
        return replacing.effects(_candidate(member, body), _new(body))


class Replacements(Resource, tag="Pools"):
    """The replacements of a project."""

    @reads(ReplacementSerializer, paged=True, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> Response:
        """List replacements, including undone ones. 403 for a lead who still judges."""
        member = access.lead(self.person, slug)
        rows = replacing.replacements(member.project)
        return self.page(rows)

    @writes(ReplacementSerializer, body=SentReplacement, scope=Scope.LEAD, status=201)
    def post(self, request: Request, slug: str) -> Replacement:
        """Replace a document. 409 if its effects differ from those of the preview."""
        member = access.lead(self.person, slug)
        body = self.body()
        return replacing.replace_document(
            candidate=_candidate(member, body),
            new=_new(body),
            reason=body["reason"],
            digest=body["token"],
            by=member,
        )


class ReplacementUndoing(Resource, tag="Pools"):
    """The undoing of a replacement."""

    @writes(ReplacementSerializer, scope=Scope.LEAD)
    def post(self, request: Request, slug: str, replacement: int) -> Replacement:
        """Undo a replacement: the old document is back. Undoing twice changes nothing."""
        member, undone = access.replacement(self.person, slug, replacement)
        return replacing.undo_replacement(replacement=undone, by=member)


def _candidate(member: Membership, body: dict[str, Any]) -> Candidate:
    [key] = DOCUMENTS.keys_of(member.project, [(body["query_id"], body["doc_id"])])
    return Candidate.with_removed.select_related("query__project", "document").get(pk=key)


def _new(body: dict[str, Any]) -> replacing.NewDocument:
    return replacing.NewDocument(body["new_doc_id"], body["title"], body["text"])
