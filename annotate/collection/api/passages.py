"""How documents are cut into passages, and which texts layouts publish."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request

from annotate.collection.models import PassageRule
from annotate.collection.passages import passage_rule_of, set_passage_rule
from annotate.projects import access
from base.api.resource import RequestBody, Resource, Scope, reads, writes


class PassagesSerializer(serializers.Serializer[Any]):
    """The rule by which passages are cut and published."""

    words = serializers.IntegerField(help_text="Words per passage.")
    overlap = serializers.IntegerField(help_text="Words that the next passage repeats.")
    at_sentences = serializers.BooleanField()
    published = serializers.ChoiceField(choices=PassageRule.Published.choices)
    share = serializers.IntegerField(
        help_text="Percent of a document that passages around its evidence may contain."
    )


class SentPassages(RequestBody):
    """The fields of the rule to change."""

    words = serializers.IntegerField(required=False, min_value=1, max_value=100_000)
    overlap = serializers.IntegerField(required=False, min_value=0, max_value=100_000)
    at_sentences = serializers.BooleanField(required=False)
    published = serializers.ChoiceField(choices=PassageRule.Published.choices, required=False)
    share = serializers.IntegerField(required=False, min_value=1, max_value=100)


class Passages(Resource, tag="Collection"):
    """The passage rule of a project."""

    @reads(PassagesSerializer, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> PassageRule:
        """Read how passages are cut and published."""
        return passage_rule_of(access.lead(self.person, slug).project)

    @writes(PassagesSerializer, body=SentPassages, scope=Scope.LEAD)
    def patch(self, request: Request, slug: str) -> PassageRule:
        """Change how passages are cut and published."""
        by = access.lead(self.person, slug)
        return set_passage_rule(project=by.project, changes=self.body(), by=by)
