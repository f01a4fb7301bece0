"""Documents that people are asked to judge and that have no text."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.pairs.pool import documents_without_text
from annotate.projects import access
from base.api.resource import Resource, Scope, reads


class DocumentWithoutTextSerializer(serializers.Serializer[Any]):
    """A document without a text."""

    doc_id = serializers.CharField()
    title = serializers.CharField()


class MissingTexts(Resource, tag="Pools"):
    """The documents to judge that have no text."""

    @reads(DocumentWithoutTextSerializer, paged=True, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> Response:
        """List the documents that judges are shown and that have no text yet."""
        member = access.lead(self.person, slug)
        return self.page(documents_without_text(member.project))
