"""How documents are cut into passages, and which texts layouts publish."""

from __future__ import annotations

from typing import ClassVar

from rest_framework import serializers
from rest_framework.request import Request

from annotate.collection.models import PassageRule
from annotate.collection.passages import MOST_WORDS, passage_rule_of, set_passage_rule
from annotate.projects import access
from base.api.bodies import Settings
from base.api.resource import Resource, Scope, reads, writes


class PassagesSerializer(Settings, serializers.ModelSerializer[PassageRule]):
    """The rule by which passages are cut and published."""

    class Meta:
        model = PassageRule
        fields = ("words", "overlap", "at_sentences", "published", "share")
        # The model's fields would have ranges that depend on the database.
        extra_kwargs: ClassVar = {
            "words": {"min_value": 1, "max_value": MOST_WORDS, "help_text": "Words per passage."},
            "overlap": {
                "min_value": 0,
                "max_value": MOST_WORDS,
                "help_text": "Words that the next passage repeats.",
            },
            "share": {
                "min_value": 1,
                "max_value": 100,
                "help_text": "Percent of a document that passages around its evidence may contain.",
            },
        }


class Passages(Resource, tag="Collection"):
    """The passage rule of a project."""

    @reads(PassagesSerializer, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> PassageRule:
        """Read how passages are cut and published."""
        return passage_rule_of(access.lead(self.person, slug).project)

    @writes(PassagesSerializer, body=PassagesSerializer, scope=Scope.LEAD)
    def patch(self, request: Request, slug: str) -> PassageRule:
        """Change how passages are cut and published."""
        by = access.lead(self.person, slug)
        return set_passage_rule(project=by.project, changes=self.body(), by=by)
