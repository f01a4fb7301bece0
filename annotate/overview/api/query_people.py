"""Who takes the tasks of a query."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request

from annotate.collection import access as collection_access
from annotate.collection.models import Query
from annotate.pairs.named_people import name_people, named_people
from annotate.projects import access
from base.api.resource import KeyField, RequestBody, Resource, Scope, reads, writes

MOST = 1_000


def _keys() -> serializers.ListField:
    return serializers.ListField(
        child=KeyField(),
        max_length=MOST,
        default=list,
        help_text="Keys of members; empty: everybody.",
    )


class SentPeople(RequestBody):
    """Who takes each task of a query."""

    rewrite = _keys()
    judge = _keys()
    review = _keys()


class PeopleSerializer(serializers.Serializer[Any]):
    """Who takes each task of a query, by the keys of members; empty: everybody."""

    rewrite = serializers.ListField(child=serializers.IntegerField())
    judge = serializers.ListField(child=serializers.IntegerField())
    review = serializers.ListField(child=serializers.IntegerField())


class QueryPeople(Resource, tag="Assignments"):
    """Who takes the tasks of a query: for leads."""

    @reads(PeopleSerializer)
    def get(self, request: Request, slug: str, query: int) -> dict[str, list[int]]:
        """Read who takes each task of a query."""
        by = access.lead(self.person, slug)
        return _people(collection_access.query(by, query))

    @writes(PeopleSerializer, body=SentPeople, scope=Scope.LEAD)
    def put(self, request: Request, slug: str, query: int) -> dict[str, list[int]]:
        """Set who takes each task of a query. People keep the tasks that they already hold."""
        by = access.lead(self.person, slug)
        named_query = collection_access.query(by, query)
        name_people(query=named_query, people=self.body(), by=by)
        return _people(named_query)


def _people(query: Query) -> dict[str, list[int]]:
    return {task: sorted(keys) for task, keys in named_people(query).items()}
