"""Candidates that were taken out of their pools: list them, take more out, bring them back."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.collection.api.removal import SentReason
from annotate.collection.removal import MOST, ChangeCounts
from annotate.pools import access
from annotate.pools.removal import DOCUMENTS
from base.api.resource import RequestBody, Resource, Scope, reads, writes


class CandidateIdSerializer(RequestBody):
    """The ids of a candidate."""

    query_id = serializers.CharField(max_length=255, trim_whitespace=False)
    doc_id = serializers.CharField(max_length=512, trim_whitespace=False)


class SentCandidates(RequestBody):
    """Candidates to change."""

    candidates = serializers.ListField(child=CandidateIdSerializer(), max_length=MOST)


class SentRemoval(SentCandidates, SentReason):
    """Candidates to take out, and the reason."""


class RemovedCandidateSerializer(serializers.Serializer[Any]):
    """A candidate that was taken out of its pool."""

    query_id = serializers.CharField(source="query.query_id")
    doc_id = serializers.CharField(source="document.doc_id")
    removed_at = serializers.DateTimeField()
    removed_by = serializers.CharField(source="removed_by.name", allow_null=True)
    reason = serializers.CharField(source="removed_reason")


class RemovedCandidates(Resource, tag="Pools"):
    """The candidates of a project that were taken out of their pools."""

    @reads(RemovedCandidateSerializer, paged=True, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> Response:
        """List removed candidates with their reasons. 403 for a lead who still judges."""
        member = access.lead(self.person, slug)
        rows = DOCUMENTS.removed(member.project)
        return self.page(rows.select_related("query", "document", "removed_by"))

    @writes(ChangeCounts, body=SentRemoval, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> ChangeCounts:
        """Take candidates out: nobody judges them any more, and they are in no qrels."""
        member, sent = access.lead(self.person, slug), self.body()
        keys = DOCUMENTS.keys_of(member.project, _ids(sent))
        return DOCUMENTS.remove(project=member.project, keys=keys, reason=sent["reason"], by=member)


class CandidateRestoration(Resource, tag="Pools"):
    """The return of candidates to their pools."""

    @writes(ChangeCounts, body=SentCandidates, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> ChangeCounts:
        """Bring candidates back; people's answers about them count again."""
        member = access.lead(self.person, slug)
        keys = DOCUMENTS.keys_of(member.project, _ids(self.body()))
        return DOCUMENTS.restore(project=member.project, keys=keys, by=member)


def _ids(sent: dict[str, Any]) -> list[tuple[str, str]]:
    return [(candidate["query_id"], candidate["doc_id"]) for candidate in sent["candidates"]]
