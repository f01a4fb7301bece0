"""Taking out queries and instructions, and bringing them back, in the API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.collection.api.removal import ChangedRowsSerializer, SentReason
from annotate.collection.removal import MOST, ChangeCounts
from annotate.judgments.blindness import must_answer_first
from annotate.projects import access
from annotate.projects.models import Membership, Project
from annotate.topics import removal
from annotate.topics.filters import FilterCount, filter_counts
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


class SentQueryRemoval(SentQueries, SentReason):
    """Queries to take out, and the reason."""


class SentPairs(RequestBody):
    """A list of instructions."""

    pairs = _ids()


class SentPairRemoval(SentPairs, SentReason):
    """Instructions to take out, and the reason."""


class RemovedRowSerializer(serializers.Serializer[Any]):
    """A query or an instruction that is taken out."""

    id = serializers.CharField()
    removed_at = serializers.DateTimeField()
    removed_by = serializers.CharField(allow_null=True, help_text="Null: a command.")
    reason = serializers.CharField(
        allow_null=True, help_text="Null while you have judging or reviewing left."
    )


class RemovedQueries(Resource, tag="Collection"):
    """The queries of a project that are taken out."""

    @reads(RemovedRowSerializer, paged=True, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> Response:
        """List the queries that are taken out, with the reasons."""
        return _removed(self, slug, removal.removed_queries, "query_id")

    @writes(ChangedRowsSerializer, body=SentQueryRemoval, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> ChangeCounts:
        """Take queries out: nobody works on them, and they are not in qrels."""
        return change_queries(self, access.lead(self.person, slug), removal.remove_queries)


class QueryRestoration(Resource, tag="Collection"):
    """Bringing queries back."""

    @writes(ChangedRowsSerializer, body=SentQueries, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> ChangeCounts:
        """Bring queries back, with the instructions that were taken out with them."""
        return change_queries(self, access.lead(self.person, slug), removal.restore_queries)


class RemovedPairs(Resource, tag="Collection"):
    """The instructions of a project that are taken out."""

    @reads(RemovedRowSerializer, paged=True, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> Response:
        """List the instructions that are taken out without their query, with the reasons."""
        return _removed(self, slug, removal.removed_pairs, "pair_id")

    @writes(ChangedRowsSerializer, body=SentPairRemoval, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> ChangeCounts:
        """Take instructions out: nobody works on them, and they are not in qrels."""
        return _change_pairs(self, access.lead(self.person, slug), removal.remove_pairs)


class PairRestoration(Resource, tag="Collection"):
    """Bringing instructions back."""

    @writes(ChangedRowsSerializer, body=SentPairs, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> ChangeCounts:
        """Bring instructions back."""
        return _change_pairs(self, access.lead(self.person, slug), removal.restore_pairs)


class FilterCountSerializer(serializers.Serializer[Any]):
    """One machine's decisions on queries, instructions or documents."""

    machine = serializers.CharField()
    about = serializers.ChoiceField(choices=["queries", "instructions", "documents"])
    kept = serializers.IntegerField()
    discarded = serializers.IntegerField()
    brought_back = serializers.IntegerField(
        help_text="Of the discarded ones: brought back by a lead."
    )


class Filters(Resource, tag="Collection"):
    """Counts of what machines' filters kept and discarded."""

    @reads(FilterCountSerializer, many=True, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> list[FilterCount]:
        """Count the decisions of each machine."""
        return filter_counts(access.lead(self.person, slug).project)


def change_queries(
    resource: Resource, member: Membership, action: Callable[..., ChangeCounts]
) -> ChangeCounts:
    """Perform an action with the queries of the request, and with its reason if it has one."""
    given = resource.body()
    queries = removal.query_keys(member.project, given.pop("queries"))
    return action(project=member.project, queries=queries, **given, by=member)


def _change_pairs(
    resource: Resource, member: Membership, action: Callable[..., ChangeCounts]
) -> ChangeCounts:
    given = resource.body()
    pairs = removal.pair_keys(member.project, given.pop("pairs"))
    return action(project=member.project, pairs=pairs, **given, by=member)


def _removed(
    resource: Resource, slug: str, rows_of: Callable[[Project], QuerySet[Any]], name: str
) -> Response:
    """Return the page of what is taken out; the reasons are null for a lead who is blind."""
    member = access.lead(resource.person, slug)
    blind = must_answer_first(member)
    return resource.page(
        rows_of(member.project).select_related("removed_by"),
        prepare=lambda rows: [
            {
                "id": getattr(row, name),
                "removed_at": row.removed_at,
                "removed_by": row.removed_by and row.removed_by.name,
                "reason": None if blind else row.removed_reason,
            }
            for row in rows
        ],
    )
