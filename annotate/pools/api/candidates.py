"""Candidates that are out of their pools: taking some out, and bringing them back."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.collection.api.removal import ChangedRowsSerializer
from annotate.collection.models import Candidate
from annotate.collection.removal import MAX_REASON, MOST
from annotate.pools import access, removal
from base.api.resource import Resource, Scope, Sent, reads, writes


class CandidateIdSerializer(Sent):
    """A candidate by its ids."""

    query_id = serializers.CharField(max_length=255, trim_whitespace=False)
    doc_id = serializers.CharField(max_length=512, trim_whitespace=False)


class SentCandidates(Sent):
    """Which candidates."""

    candidates = serializers.ListField(child=CandidateIdSerializer(), max_length=MOST)


class SentRemoval(SentCandidates):
    """Which candidates are taken out, and why."""

    reason = serializers.CharField(max_length=MAX_REASON)


class RemovedCandidateSerializer(serializers.Serializer[Any]):
    """A candidate that is out of its pool."""

    query_id = serializers.CharField()
    doc_id = serializers.CharField()
    removed_at = serializers.DateTimeField()
    removed_by = serializers.CharField(allow_null=True)
    reason = serializers.CharField()


class RemovedCandidates(Resource):
    """The candidates of a project that are out of their pools."""

    tag = "Pools"

    @reads(RemovedCandidateSerializer, paged=True, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> Response:
        """List them with the reasons. 403 for a lead who still judges."""
        member = access.lead(self.person, slug)
        rows = removal.removed_candidates(member.project)
        return self.page(rows.select_related("query", "document", "removed_by"), _as_json)

    @writes(ChangedRowsSerializer, sent=SentRemoval, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> Response:
        """Take candidates out: nobody is asked about them, and they are in no qrels."""
        member = access.lead(self.person, slug)
        given = self.sent()
        changed = removal.remove_candidates(
            project=member.project,
            candidates=removal.named(member.project, _ids(given)),
            reason=given["reason"],
            by=member,
        )
        return Response(changed._asdict())


class CandidateRestoration(Resource):
    """Bringing candidates back into their pools."""

    tag = "Pools"

    @writes(ChangedRowsSerializer, sent=SentCandidates, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> Response:
        """Bring candidates back; what people said of them counts again."""
        member = access.lead(self.person, slug)
        changed = removal.restore_candidates(
            project=member.project,
            candidates=removal.named(member.project, _ids(self.sent())),
            by=member,
        )
        return Response(changed._asdict())


def _ids(given: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one["query_id"], one["doc_id"]) for one in given["candidates"]]


def _as_json(rows: list[Candidate]) -> list[dict[str, Any]]:
    told = [
        {
            "query_id": row.query.query_id,
            "doc_id": row.document.doc_id,
            "removed_at": row.removed_at,
            "removed_by": row.removed_by.name if row.removed_by else None,
            "reason": row.removed_reason,
        }
        for row in rows
    ]
    return list(RemovedCandidateSerializer(told, many=True).data)
