"""Serializers of narratives and conditions."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotate.pairs.models import InstructionPair, Narrative


class OfPairSerializer(serializers.Serializer[Any]):
    """What belongs to an instruction pair: its `pair`."""

    pair = serializers.IntegerField(source="pair.pk")
    pair_id = serializers.CharField(source="pair.pair_id")
    query_id = serializers.CharField(source="pair.query.query_id")


class OfNarrativeSerializer(serializers.Serializer[Any]):
    """What belongs to a version of a narrative: its `narrative`."""

    pair = serializers.IntegerField(source="narrative.pair_id")
    pair_id = serializers.CharField(source="narrative.pair.pair_id")
    query_id = serializers.CharField(source="narrative.pair.query.query_id")


class ConditionSerializer(serializers.Serializer[Any]):
    """One condition that a narrative sets."""

    id = serializers.IntegerField()
    number = serializers.IntegerField()
    name = serializers.CharField()
    text = serializers.CharField()


class NarrativeSerializer(serializers.Serializer[Any]):
    """A version of a narrative, without its text."""

    id = serializers.IntegerField()
    side = serializers.ChoiceField(choices=Narrative.Side.choices)
    version = serializers.IntegerField()
    note = serializers.CharField()
    author = serializers.CharField(
        source="author.name", allow_null=True, help_text="null: it was loaded from a file."
    )
    origin = serializers.ChoiceField(choices=InstructionPair.Origin.choices)
    model = serializers.CharField(
        allow_blank=True, help_text="The language model that wrote this version, if one did."
    )
    created_at = serializers.DateTimeField()
    withdrawn_at = serializers.DateTimeField(
        allow_null=True, help_text="When a lead went back to an earlier version."
    )


class VersionSerializer(serializers.Serializer[Any]):
    """One version of a narrative."""

    id = serializers.IntegerField(source="pk")
    side = serializers.ChoiceField(choices=Narrative.Side.choices)
    version = serializers.IntegerField()
    text = serializers.CharField()
