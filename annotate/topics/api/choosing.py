"""Choosing topics in the API."""

from __future__ import annotations

from rest_framework.request import Request

from annotate.collection.removal import ChangeCounts
from annotate.projects import access
from annotate.topics import choosing
from annotate.topics.api.removal import SentQueryRemoval
from annotate.topics.forms import DrawForm
from annotate.topics.removal import QUERIES
from base.api.records import RecordSerializer
from base.api.resource import Resource, Scope, reads, writes


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

    @writes(ChangeCounts, body=DrawForm, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> ChangeCounts:
        """Draw topics that meet the conditions and take the others out."""
        member = access.lead(self.person, slug)
        body = self.body()
        number, seed = body.pop("number"), body.pop("seed")
        return choosing.draw_topics(
            project=member.project,
            conditions=choosing.Conditions(**body),
            number=number,
            seed=seed,
            by=member,
        )
