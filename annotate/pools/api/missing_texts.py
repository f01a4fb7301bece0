"""Documents that people are asked to judge and that have no text."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.pairs.pool import documents_without_text
from annotate.projects import access
from base.api.resource import QueryParameters, Resource, Scope, reads


class DocumentWithoutTextSerializer(serializers.Serializer[Any]):
    """A document without a text."""

    doc_id = serializers.CharField()
    title = serializers.CharField()


class AskedMissingTexts(QueryParameters):
    """Which documents are listed."""

    show = serializers.ChoiceField(
        choices=["judged", "pool"],
        default="judged",
        help_text="Those that judges are shown, or all of the pools, which checks may show.",
    )


class MissingTexts(Resource, tag="Pools"):
    """The documents to judge that have no text."""

    @reads(
        DocumentWithoutTextSerializer,
        parameters=AskedMissingTexts,
        paged=True,
        scope=Scope.LEAD,
    )
    def get(self, request: Request, slug: str) -> Response:
        """List the documents that judges are shown and that have no text yet."""
        member = access.lead(self.person, slug)
        whole_pool = self.parameters()["show"] == "pool"
        return self.page(documents_without_text(member.project, whole_pool=whole_pool))
