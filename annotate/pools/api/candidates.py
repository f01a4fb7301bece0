"""Candidates that were taken out of their pools: list them, take more out, bring them back."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.collection.api.removal import ChangedRowsSerializer
from annotate.collection.models import Candidate
from annotate.collection.removal import MAX_REASON, MOST
from annotate.pools import access, removal
from base.api.resource import RequestBody, Resource, Scope, reads, writes


class CandidateIdSerializer(RequestBody):
    """The ids of a candidate."""

    query_id = serializers.CharField(max_length=255, trim_whitespace=False)
    doc_id = serializers.CharField(max_length=512, trim_whitespace=False)


class SentCandidates(RequestBody):
    """Candidates to change."""

    candidates = serializers.ListField(child=CandidateIdSerializer(), max_length=MOST)


class SentRemoval(SentCandidates):
    """Candidates to take out, and the reason."""

    reason = serializers.CharField(max_length=MAX_REASON)


class RemovedCandidateSerializer(serializers.Serializer[Any]):
    """A candidate that was taken out of its pool."""

    query_id = serializers.CharField()
    doc_id = serializers.CharField()
    removed_at = serializers.DateTimeField()
    removed_by = serializers.CharField(allow_null=True)
    reason = serializers.CharField()


class RemovedCandidates(Resource):
    """The candidates of a project that were taken out of their pools."""

    tag = "Pools"

    @reads(RemovedCandidateSerializer, paged=True, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> Response:
        """List removed candidates with their reasons. 403 for a lead who still judges."""
        member = access.lead(self.person, slug)
        rows = removal.removed_candidates(member.project)
        return self.page(rows.select_related("query", "document", "removed_by"), _as_json)

    @writes(ChangedRowsSerializer, body=SentRemoval, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> Response:
        """Take candidates out: nobody judges them any more, and they are in no qrels."""
        member = access.lead(self.person, slug)
        given = self.body()
        changed = removal.remove_candidates(
            project=member.project,
            candidates=removal.candidate_keys(member.project, _ids(given)),
            reason=given["reason"],
            by=member,
        )
        return Response(changed._asdict())


class CandidateRestoration(Resource):
    """The return of candidates to their pools."""

    tag = "Pools"

    @writes(ChangedRowsSerializer, body=SentCandidates, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> Response:
        """Bring candidates back; people's answers about them count again."""
        member = access.lead(self.person, slug)
        changed = removal.restore_candidates(
            project=member.project,
            candidates=removal.candidate_keys(member.project, _ids(self.body())),
            by=member,
        )
        return Response(changed._asdict())


def _ids(given: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one["query_id"], one["doc_id"]) for one in given["candidates"]]


def _as_json(rows: list[Candidate]) -> list[dict[str, Any]]:
    data = [
        {
            "query_id": row.query.query_id,
            "doc_id": row.document.doc_id,
            "removed_at": row.removed_at,
            "removed_by": row.removed_by.name if row.removed_by else None,
            "reason": row.removed_reason,
        }
        for row in rows
    ]
    return list(RemovedCandidateSerializer(data, many=True).data)
