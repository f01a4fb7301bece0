"""The search of a project."""

from __future__ import annotations

from rest_framework import serializers
from rest_framework.request import Request

from annotate.overview.search import MAX_WORDS, SearchResults, search
from annotate.projects import access
from base.api.resource import QueryParameters, Resource, reads


class AskedSearch(QueryParameters):
    """What to search for."""

    q = serializers.CharField(max_length=MAX_WORDS, help_text="An id, words of a title, or a name.")


class Search(Resource, tag="Collection"):
    """The search of a project."""

    @reads(SearchResults, parameters=AskedSearch)
    def get(self, request: Request, slug: str) -> SearchResults:
        """Find queries, documents and people (leads only) by their ids, titles and names."""
        return search(access.member(self.person, slug), self.parameters()["q"])
