"""The collection in the API: passages, topics, and what is taken out."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.collection.forms import DrawForm, PassagesForm
from annotate.collection.models import PassageRule
from annotate.collection.passages import passage_rule_of, set_passage_rule
from annotate.collection.removal import (
    INSTRUCTIONS,
    MAX_REASON,
    MOST,
    QUERIES,
    ChangeCounts,
    Removable,
)
from annotate.collection.topics import (
    Conditions,
    FilterCount,
    Topic,
    choose_topics,
    draw_topics,
    filter_counts,
    topics_of,
)
from annotate.judgments.blindness import must_answer_first
from annotate.projects import access
from base.api.bodies import FormBody, Settings
from base.api.resource import (
    RequestBody,
    Resource,
    Scope,
    page_response,
    reads,
    requested_part,
    writes,
)


class PassagesSerializer(Settings, FormBody):
    """The rule by which passages are cut and published."""

    class Meta:
        form = PassagesForm


class Passages(Resource, tag="Collection"):
    """The passage rule of a project."""

    @reads(PassagesSerializer)
    def get(self, request: Request, slug: str) -> PassageRule:
        """Read how passages are cut and published."""
        return passage_rule_of(access.lead(self.person, slug).project)

    @writes(PassagesSerializer, body=PassagesSerializer, scope=Scope.LEAD)
    def patch(self, request: Request, slug: str) -> PassageRule:
        """Change how passages are cut and published."""
        by = access.lead(self.person, slug)
        return set_passage_rule(project=by.project, changes=self.body(), by=by)


class SentReason(RequestBody):
    """Why rows are taken out."""

    reason = serializers.CharField(max_length=MAX_REASON)


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

    @reads(RemovedRowSerializer, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List the queries that are taken out, with the reasons."""
        return _removed(self, slug, QUERIES, "query_id")

    @writes(ChangeCounts, body=SentQueryRemoval, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> ChangeCounts:
        """Take queries out: nobody works on them, and they are not in qrels."""
        member, sent = access.lead(self.person, slug), self.body()
        keys = QUERIES.keys_of(member.project, sent["queries"])
        return QUERIES.remove(project=member.project, keys=keys, reason=sent["reason"], by=member)


class QueryRestoration(Resource, tag="Collection"):
    """Bringing queries back."""

    @writes(ChangeCounts, body=SentQueries, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> ChangeCounts:
        """Bring queries back, with the instructions that were taken out with them."""
        member = access.lead(self.person, slug)
        keys = QUERIES.keys_of(member.project, self.body()["queries"])
        return QUERIES.restore(project=member.project, keys=keys, by=member)


class RemovedPairs(Resource, tag="Collection"):
    """The instructions of a project that are taken out."""

    @reads(RemovedRowSerializer, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List the instructions that are taken out without their query, with the reasons."""
        return _removed(self, slug, INSTRUCTIONS, "pair_id")

    @writes(ChangeCounts, body=SentPairRemoval, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> ChangeCounts:
        """Take instructions out: nobody works on them, and they are not in qrels."""
        member, sent = access.lead(self.person, slug), self.body()
        keys = INSTRUCTIONS.keys_of(member.project, sent["pairs"])
        return INSTRUCTIONS.remove(
            project=member.project, keys=keys, reason=sent["reason"], by=member
        )


class PairRestoration(Resource, tag="Collection"):
    """Bringing instructions back."""

    @writes(ChangeCounts, body=SentPairs, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> ChangeCounts:
        """Bring instructions back."""
        member = access.lead(self.person, slug)
        keys = INSTRUCTIONS.keys_of(member.project, self.body()["pairs"])
        return INSTRUCTIONS.restore(project=member.project, keys=keys, by=member)


class Filters(Resource, tag="Collection"):
    """Counts of what machines' filters kept and discarded."""

    @reads(FilterCount, many=True)
    def get(self, request: Request, slug: str) -> list[FilterCount]:
        """Count the decisions of each machine."""
        return filter_counts(access.lead(self.person, slug).project)


def _removed(resource: Resource, slug: str, removable: Removable, id_field: str) -> Response:
    """Return the page of what is taken out; the reasons are null for a lead who is blind."""
    member = access.lead(resource.person, slug)
    blind = must_answer_first(member)
    return resource.page(
        removable.removed(member.project).select_related("removed_by"),
        prepare=lambda rows: [
            {
                "id": getattr(row, id_field),
                "removed_at": row.removed_at,
                "removed_by": row.removed_by and row.removed_by.name,
                "reason": None if blind else row.removed_reason,
            }
            for row in rows
        ],
    )


class Topics(Resource, tag="Collection"):
    """The topics of a project that are not taken out."""

    @reads(Topic, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List the topics with the values that conditions check."""
        topics = topics_of(access.lead(self.person, slug).project)
        part, following = requested_part(request, [str(topic.pk) for topic in topics])
        return page_response(request, self.shape(topics[part]), following)

    @writes(ChangeCounts, body=SentQueryRemoval, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> ChangeCounts:
        """Keep these queries and take the others out with the reason."""
        member, sent = access.lead(self.person, slug), self.body()
        queries = QUERIES.keys_of(member.project, sent["queries"])
        return choose_topics(
            project=member.project, queries=queries, reason=sent["reason"], by=member
        )


class TopicDraw(Resource, tag="Collection"):
    """Drawing topics."""

    @writes(ChangeCounts, body=DrawForm, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> ChangeCounts:
        """Draw topics that meet the conditions and take the others out."""
        member = access.lead(self.person, slug)
        body = self.body()
        number, seed = body.pop("number"), body.pop("seed")
        return draw_topics(
            project=member.project,
            conditions=Conditions(**body),
            number=number,
            seed=seed,
            by=member,
        )
