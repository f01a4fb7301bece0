"""Choosing topics in the API."""

from __future__ import annotations

from rest_framework import serializers
from rest_framework.request import Request

from annotate.collection.removal import MOST, ChangeCounts
from annotate.projects import access
from annotate.topics import choosing
from annotate.topics.api.removal import SentQueryRemoval
from annotate.topics.forms import LARGEST
from annotate.topics.removal import QUERIES
from base.api.records import RecordSerializer
from base.api.resource import RequestBody, Resource, Scope, reads, writes


class SentDraw(RequestBody):
    """A draw of topics: number, seed and conditions."""

    number = serializers.IntegerField(min_value=1, max_value=MOST)
    seed = serializers.IntegerField(min_value=0, max_value=LARGEST)
    narrative = serializers.BooleanField(default=True, help_text="Only topics with a narrative.")
    least = serializers.IntegerField(
        min_value=0, max_value=LARGEST, required=False, help_text="Relevant documents."
    )
    most = serializers.IntegerField(
        min_value=0, max_value=LARGEST, required=False, help_text="Relevant documents."
    )


class TopicSerializer(RecordSerializer):
    """A topic that can be chosen."""

    class Meta:
        record = choosing.Topic
        fields = ("query_id", "title", "relevant", "has_narrative")


class Topics(Resource, tag="Collection"):
    """The topics of a project that are not taken out."""

    @reads(TopicSerializer, many=True, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> list[choosing.Topic]:
        """List the topics with the values that conditions check."""
        return choosing.topics(access.lead(self.person, slug).project)

    @writes(ChangeCounts, body=SentQueryRemoval, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> ChangeCounts:
        """Keep these queries and take the others out with the reason."""
        member, sent = access.lead(self.person, slug), self.body()
        queries = QUERIES.keys_of(member.project, sent["queries"])
        return choosing.choose_topics(
            project=member.project, queries=queries, reason=sent["reason"], by=member
        )


class TopicDraw(Resource, tag="Collection"):
    """Drawing topics."""

    @writes(ChangeCounts, body=SentDraw, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> ChangeCounts:
        """Draw topics that meet the conditions and take the others out."""
        member = access.lead(self.person, slug)
        body = self.body()
        conditions = choosing.Conditions(body["narrative"], body.get("least"), body.get("most"))
        return choosing.draw_topics(
            project=member.project,
            conditions=conditions,
            number=body["number"],
            seed=body["seed"],
            by=member,
        )
