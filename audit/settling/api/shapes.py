"""Settling decisions as the API shows them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotate.judgments.models import Adjudication, Verdict


class SettledSerializer(serializers.Serializer[Any]):
    """How it was settled what judges of a document differ on, and whether that stands."""

    relevance = serializers.IntegerField()
    cause = serializers.ChoiceField(choices=Adjudication.Cause.choices)
    reason = serializers.CharField()
    by = serializers.CharField(source="by.name")
    at = serializers.DateTimeField()
    batch = serializers.UUIDField(allow_null=True)
    withdrawn_at = serializers.DateTimeField(allow_null=True)


class ConditionSettledSerializer(serializers.Serializer[Any]):
    """How it was settled whether a document meets a condition, and whether that stands."""

    answer = serializers.ChoiceField(choices=Verdict.Answer.choices)
    cause = serializers.ChoiceField(choices=Adjudication.Cause.choices)
    reason = serializers.CharField()
    by = serializers.CharField(source="by.name")
    at = serializers.DateTimeField()
    withdrawn_at = serializers.DateTimeField(allow_null=True)
