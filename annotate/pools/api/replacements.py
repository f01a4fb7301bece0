"""Replacements of failed documents: preview one, make one, undo one."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.collection.models import Candidate
from annotate.collection.removal import MAX_REASON
from annotate.pools import access, removal, replacing
from annotate.pools.models import Replacement
from annotate.projects.models import Membership
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


class EffectsSerializer(serializers.Serializer[Any]):
    """The effects of a replacement."""

    queries = serializers.ListField(
        child=serializers.CharField(), help_text="Queries in whose pools it is replaced."
    )
    judgments = serializers.IntegerField(help_text="People's judgments that no longer count.")
    checks = serializers.IntegerField(help_text="People's checks that no longer count.")
    claims = serializers.IntegerField(help_text="Claims that the new document takes over.")
    rules = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField()),
        help_text="Rules that the old document breaks, with the pairs.",
    )
    releases = serializers.ListField(
        child=serializers.CharField(), help_text="Releases, which do not change."
    )
    makes_document = serializers.BooleanField()
    token = serializers.CharField()


class ReplacementSerializer(serializers.Serializer[Any]):
    """A replacement."""

    id = serializers.IntegerField()
    old = serializers.CharField()
    new = serializers.CharField()
    reason = serializers.CharField()
    by = serializers.CharField()
    at = serializers.DateTimeField()
    undone_at = serializers.DateTimeField(allow_null=True)
    undone_by = serializers.CharField(allow_null=True)


class ReplacementPreview(Resource):
    """The preview of a replacement."""

    tag = "Pools"

    @writes(EffectsSerializer, body=SentNewDocument, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> Response:
        """Count what a replacement would change. Nothing is written."""
        member = access.lead(self.person, slug)
        given = self.body()
        effects = replacing.effects(_candidate(member, given), _new(given))
        data = {
            **{name: getattr(effects, name) for name in ("judgments", "checks", "claims")},
            "queries": [one.query.query_id for one in effects.pools],
            "rules": {rule.value: pairs for rule, pairs in effects.rules.items()},
            "releases": effects.releases,
            "makes_document": effects.makes_document,
            "token": effects.digest,
        }
        return Response(EffectsSerializer(data).data)


class Replacements(Resource):
    """The replacements of a project."""

    tag = "Pools"

    @reads(ReplacementSerializer, paged=True, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> Response:
        """List replacements, including undone ones. 403 for a lead who still judges."""
        member = access.lead(self.person, slug)
        rows = replacing.replacements(member.project)
        return self.page(rows, lambda part: [_as_json(row) for row in part])

    @writes(ReplacementSerializer, body=SentReplacement, scope=Scope.LEAD, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Replace a document. 409 if its effects differ from those of the preview."""
        member = access.lead(self.person, slug)
        given = self.body()
        made = replacing.replace_document(
            candidate=_candidate(member, given),
            new=_new(given),
            reason=given["reason"],
            digest=given["token"],
            by=member,
        )
        return Response(_as_json(made), status=201)


class ReplacementUndoing(Resource):
    """The undoing of a replacement."""

    tag = "Pools"

    @writes(ReplacementSerializer, scope=Scope.LEAD)
    def post(self, request: Request, slug: str, replacement: int) -> Response:
        """Undo a replacement: the old document is back. Undoing twice changes nothing."""
        member, found = access.replacement(self.person, slug, replacement)
        return Response(_as_json(replacing.undo_replacement(replacement=found, by=member)))


def _candidate(member: Membership, given: dict[str, Any]) -> Candidate:
    [key] = removal.candidate_keys(member.project, [(given["query_id"], given["doc_id"])])
    return Candidate.with_removed.select_related("query__project", "document").get(pk=key)


def _new(given: dict[str, Any]) -> replacing.NewDocument:
    return replacing.NewDocument(given["new_doc_id"], given["title"], given["text"])


def _as_json(row: Replacement) -> dict[str, Any]:
    data = {
        "id": row.pk,
        "old": row.old.doc_id,
        "new": row.new.doc_id,
        "reason": row.reason,
        "by": row.by.name,
        "at": row.at,
        "undone_at": row.undone_at,
        "undone_by": row.undone_by.name if row.undone_by else None,
    }
    return dict(ReplacementSerializer(data).data)
