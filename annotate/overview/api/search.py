"""The search of a project."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request

from annotate.overview.search import MAX_WORDS, Kind, SearchResults, search
from annotate.projects import access
from base.api.resource import QueryParameters, Resource, reads


class HitSerializer(serializers.Serializer[Any]):
    """Something that the search found."""

    kind = serializers.ChoiceField(choices=Kind.values)
    key = serializers.IntegerField(
        help_text="Of a query, of the candidate of a document, or of a member."
    )
    name = serializers.CharField(help_text="Its id or name; a neutral name while an id is hidden.")
    title = serializers.CharField()
    query = serializers.CharField(help_text="Of a document: the id of its query.")


class FoundSerializer(serializers.Serializer[Any]):
    """What the search found, the best of each kind first."""

    hits = HitSerializer(many=True)
    more = serializers.BooleanField(help_text="Whether more was found than is listed.")


class AskedSearch(QueryParameters):
    """What to search for."""

    q = serializers.CharField(max_length=MAX_WORDS, help_text="An id, words of a title, or a name.")


class Search(Resource, tag="Collection"):
    """The search of a project."""

    @reads(FoundSerializer, parameters=AskedSearch)
    def get(self, request: Request, slug: str) -> SearchResults:
        """Find queries, documents and people (leads only) by their ids, titles and names."""
        return search(access.member(self.person, slug), self.parameters()["q"])
