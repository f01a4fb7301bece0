"""The types of a project's instructions in the API."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request

from annotate.projects import access, taxonomy
from annotate.projects.forms.taxonomy import CategoryForm
from annotate.projects.models import Project
from annotate.projects.taxonomies import TAXONOMIES, Kind
from base.api.bodies import FormBody
from base.api.resource import RequestBody, Resource, Scope, reads, writes


class CategorySerializer(FormBody):
    """One type of instruction."""

    class Meta:
        form = CategoryForm


class TaxonomySerializer(RequestBody):
    """All types of a project's instructions, in their order."""

    categories = serializers.ListField(child=CategorySerializer(), max_length=taxonomy.MOST)


class SentTaxonomy(RequestBody):
    """The name of a ready-made taxonomy."""

    name = serializers.ChoiceField(choices=list(TAXONOMIES))


class Categories(Resource, tag="Projects"):
    """The types of a project's instructions."""

    @reads(TaxonomySerializer)
    def get(self, request: Request, slug: str) -> dict[str, Any]:
        """Return the types."""
        return _taxonomy(access.lead(self.person, slug).project)

    @writes(TaxonomySerializer, body=TaxonomySerializer, scope=Scope.LEAD)
    def put(self, request: Request, slug: str) -> dict[str, Any]:
        """Make these the types; instructions keep the keys they have."""
        by = access.lead(self.person, slug)
        taxonomy.set_categories(
            kinds=[Kind(**category) for category in self.body()["categories"]], by=by
        )
        return _taxonomy(by.project)


class Taxonomy(Resource, tag="Projects"):
    """Adding the types of a ready-made taxonomy."""

    @writes(TaxonomySerializer, body=SentTaxonomy, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> dict[str, Any]:
        """Add the types of a taxonomy; types whose key exists are not changed."""
        by = access.lead(self.person, slug)
        taxonomy.add_taxonomy(name=self.body()["name"], by=by)
        return _taxonomy(by.project)


def _taxonomy(project: Project) -> dict[str, Any]:
    rows = project.categories.order_by("place", "key").values("key", "name", "sentence")
    return {"categories": list(rows)}
