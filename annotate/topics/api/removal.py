"""Taking out queries and instructions, and bringing them back, in the API."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.collection.api.removal import ChangedRowsSerializer
from annotate.collection.models import Query
from annotate.collection.removal import MAX_REASON, MOST
from annotate.judgments.blindness import must_answer_first
from annotate.pairs.models import InstructionPair
from annotate.projects import access
from annotate.topics import removal
from annotate.topics.filters import filter_counts
from base.api.resource import RequestBody, Resource, Scope, reads, writes


def _ids() -> Any:
    """Return a list field of ids, without trimming white space."""
    return serializers.ListField(
        child=serializers.CharField(max_length=255, trim_whitespace=False),
        max_length=MOST,
    )


class SentQueries(RequestBody):
    """A list of queries."""

    queries = _ids()


class SentQueryRemoval(SentQueries):
    """Queries to take out, and the reason."""

    reason = serializers.CharField(max_length=MAX_REASON)


class SentPairs(RequestBody):
    """A list of instructions."""

    pairs = _ids()


class SentPairRemoval(SentPairs):
    """Instructions to take out, and the reason."""

    reason = serializers.CharField(max_length=MAX_REASON)


class RemovedRowSerializer(serializers.Serializer[Any]):
    """A query or an instruction that is taken out."""

    id = serializers.CharField()
    removed_at = serializers.DateTimeField()
    removed_by = serializers.CharField(allow_null=True, help_text="Null: a command.")
    reason = serializers.CharField(
        allow_null=True, help_text="Null while you have judging or reviewing left."
    )


class RemovedQueries(Resource):
    """The queries of a project that are taken out."""

    tag = "Collection"

    @reads(RemovedRowSerializer, paged=True, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> Response:
        """List the queries that are taken out, with the reasons."""
        member = access.lead(self.person, slug)
        rows = removal.removed_queries(member.project).select_related("removed_by")
        blind = must_answer_first(member)
        return self.page(rows, lambda found: [_as_json(one, one.query_id, blind) for one in found])

    @writes(ChangedRowsSerializer, body=SentQueryRemoval, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> Response:
        """Take queries out: nobody works on them, and they are not in qrels."""
        member = access.lead(self.person, slug)
        given = self.body()
        changed = removal.remove_queries(
            project=member.project,
            queries=removal.query_keys(member.project, given["queries"]),
            reason=given["reason"],
            by=member,
        )
        return Response(changed._asdict())


class QueryRestoration(Resource):
    """Bringing queries back."""

    tag = "Collection"

    @writes(ChangedRowsSerializer, body=SentQueries, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> Response:
        """Bring queries back, with the instructions that were taken out with them."""
        member = access.lead(self.person, slug)
        changed = removal.restore_queries(
            project=member.project,
            queries=removal.query_keys(member.project, self.body()["queries"]),
            by=member,
        )
        return Response(changed._asdict())


class FilterCountSerializer(serializers.Serializer[Any]):
    """One machine's decisions on queries, instructions or documents."""

    machine = serializers.CharField()
    about = serializers.ChoiceField(choices=["queries", "instructions", "documents"])
    kept = serializers.IntegerField()
    discarded = serializers.IntegerField()
    brought_back = serializers.IntegerField(
        help_text="Of the discarded ones: brought back by a lead."
    )


class Filters(Resource):
    """Counts of what machines' filters kept and discarded."""

    tag = "Collection"

    @reads(FilterCountSerializer, many=True, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> Response:
        """Count the decisions of each machine."""
        member = access.lead(self.person, slug)
        found = filter_counts(member.project)
        return Response(FilterCountSerializer([one._asdict() for one in found], many=True).data)


class RemovedPairs(Resource):
    """The instructions of a project that are taken out."""

    tag = "Collection"

    @reads(RemovedRowSerializer, paged=True, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> Response:
        """List the instructions that are taken out without their query, with the reasons."""
        member = access.lead(self.person, slug)
        rows = removal.removed_pairs(member.project).select_related("removed_by")
        blind = must_answer_first(member)
        return self.page(rows, lambda found: [_as_json(one, one.pair_id, blind) for one in found])

    @writes(ChangedRowsSerializer, body=SentPairRemoval, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> Response:
        """Take instructions out: nobody works on them, and they are not in qrels."""
        member = access.lead(self.person, slug)
        given = self.body()
        changed = removal.remove_pairs(
            project=member.project,
            pairs=removal.pair_keys(member.project, given["pairs"]),
            reason=given["reason"],
            by=member,
        )
        return Response(changed._asdict())


class PairRestoration(Resource):
    """Bringing instructions back."""

    tag = "Collection"

    @writes(ChangedRowsSerializer, body=SentPairs, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> Response:
        """Bring instructions back."""
        member = access.lead(self.person, slug)
        changed = removal.restore_pairs(
            project=member.project,
            pairs=removal.pair_keys(member.project, self.body()["pairs"]),
            by=member,
        )
        return Response(changed._asdict())


def _as_json(row: Query | InstructionPair, name: str, blind: bool) -> dict[str, Any]:
    return {
        "id": name,
        "removed_at": row.removed_at,
        "removed_by": row.removed_by.name if row.removed_by else None,
        "reason": None if blind else row.removed_reason,
    }
