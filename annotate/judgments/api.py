"""The API of an instruction's attributes and its documents' attributes."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.judgments.access import pair_for_lead
from annotate.judgments.attributes import (
    DocumentAttributes,
    attributes_of,
    current_conditions,
    set_negated,
)
from annotate.pairs.models import Condition
from annotate.pairs.pool import in_pool_of
from base.api.resource import RequestBody, Resource, Scope, reads, writes


class NamedSerializer(serializers.Serializer[Any]):
    """A document by the `Name` that its reader may see."""

    name = serializers.CharField(
        source="name.label", help_text="What pages call it: its title, or a neutral name."
    )
    doc_id = serializers.CharField(
        source="name.doc_id",
        allow_null=True,
        help_text="null while it is hidden from you: until you have answered.",
    )
    title = serializers.CharField(
        source="name.title", allow_blank=True, help_text="Empty also if it is made of a hidden id."
    )


class AttributeSerializer(serializers.Serializer[Any]):
    """An attribute of an instruction."""

    number = serializers.IntegerField()
    name = serializers.CharField()
    text = serializers.CharField()
    negated = serializers.BooleanField(
        allow_null=True, help_text="Whether the reversed query negates it; null: not set yet."
    )


class SentNegated(RequestBody):
    """The attributes that the reversed query negates."""

    negated = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=1_000),
        max_length=100,
        help_text="Numbers of attributes.",
    )
    version = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=2**31 - 1,
        help_text="The version of the instruction that you read; 409 if another one is current.",
    )


class Attributes(Resource, tag="Collection"):
    """The attributes of an instruction."""

    @reads(AttributeSerializer, many=True)
    def get(self, request: Request, pair: int) -> list[Condition]:
        """List the attributes and which of them the reversed query negates.

        403 for a lead who still judges the pair.
        """
        _member, instruction_pair = pair_for_lead(self.person, pair)
        return current_conditions(instruction_pair)

    @writes(AttributeSerializer, body=SentNegated, scope=Scope.LEAD, many=True)
    def put(self, request: Request, pair: int) -> list[Condition]:
        """Set which attributes the reversed query negates: at least one."""
        member, instruction_pair = pair_for_lead(self.person, pair)
        body = self.body()
        return set_negated(
            pair=instruction_pair, numbers=body["negated"], version=body.get("version"), by=member
        )


class DocumentsWithAttributes(Resource, tag="Collection"):
    """The documents of an instruction with their attributes."""

    @reads(DocumentAttributes, paged=True)
    def get(self, request: Request, pair: int) -> Response:
        """List the attributes that each document satisfies and violates, claimed and verified."""
        member, instruction_pair = pair_for_lead(self.person, pair)
        conditions = current_conditions(instruction_pair)
        pool = instruction_pair.query.candidates.filter(
            in_pool_of(instruction_pair.pk)
        ).select_related("document")
        return self.page(
            pool,
            prepare=lambda rows: attributes_of(member.project, conditions, rows),
        )
