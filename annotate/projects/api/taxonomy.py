"""The types of a project's instructions."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.projects import access, taxonomy
from annotate.projects.models import Project
from annotate.projects.taxonomies import TAXONOMIES, Kind
from base.api.resource import Resource, Scope, Sent, reads, writes


class CategorySerializer(Sent):
    """One type of instruction."""

    key = serializers.CharField(max_length=60, help_text="As files name it.")
    name = serializers.CharField(max_length=120)
    sentence = serializers.CharField(max_length=500, required=False, allow_blank=True, default="")


class TaxonomySerializer(Sent):
    """The types of a project's instructions, in their order: all of them."""

    categories = serializers.ListField(child=CategorySerializer(), max_length=taxonomy.MOST)


class SentTaxonomy(Sent):
    """A taxonomy that comes with Rejudge."""

    name = serializers.ChoiceField(choices=list(TAXONOMIES))


class Categories(Resource):
    """The types of a project's instructions."""

    tag = "Projects"

    @reads(TaxonomySerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Read the types."""
        return Response(_as_json(access.lead(self.person, slug).project))

    @writes(TaxonomySerializer, sent=TaxonomySerializer, scope=Scope.LEAD)
    def put(self, request: Request, slug: str) -> Response:
        """Make these the types; instructions keep the keys they have."""
        by = access.lead(self.person, slug)
        taxonomy.set_categories(kinds=[Kind(**one) for one in self.sent()["categories"]], by=by)
        return Response(_as_json(by.project))


class Taxonomy(Resource):
    """Taking the types of a taxonomy that comes with Rejudge."""

    tag = "Projects"

    @writes(TaxonomySerializer, sent=SentTaxonomy, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> Response:
        """Add the types of a taxonomy; a key that is there stays as it is."""
        by = access.lead(self.person, slug)
        taxonomy.take_taxonomy(name=self.sent()["name"], by=by)
        return Response(_as_json(by.project))


def _as_json(project: Project) -> dict[str, Any]:
    rows = project.categories.order_by("place", "key").values("key", "name", "sentence")
    return {"categories": list(rows)}
