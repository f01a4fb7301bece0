"""Checked labels and their figures as the API shows them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotate.judgments.models import Verdict


class IntervalSerializer(serializers.Serializer[Any]):
    """A confidence interval."""

    low = serializers.FloatField()
    high = serializers.FloatField()


class ProportionSerializer(serializers.Serializer[Any]):
    """A counted share; null with a reason in `note` where nothing was counted."""

    count = serializers.IntegerField()
    of = serializers.IntegerField()
    share = serializers.FloatField(allow_null=True)
    note = serializers.CharField()
    interval = IntervalSerializer(allow_null=True)
    at_most = serializers.FloatField(allow_null=True)


class WeightedSerializer(serializers.Serializer[Any]):
    """A share over strata, weighted by their sizes."""

    share = serializers.FloatField(allow_null=True)
    note = serializers.CharField()
    interval = IntervalSerializer(allow_null=True)
    at_most = serializers.FloatField(allow_null=True)


class CoefficientSerializer(serializers.Serializer[Any]):
    """A coefficient of agreement; null with a reason in `note` where it is undefined."""

    name = serializers.CharField()
    value = serializers.FloatField(allow_null=True)
    note = serializers.CharField()
    interval = IntervalSerializer(allow_null=True)
    interval_note = serializers.CharField()
    units = serializers.IntegerField()
    raters = serializers.IntegerField()


class CheckedSerializer(serializers.Serializer[Any]):
    """What one of the first two said of a claimed label."""

    check = serializers.IntegerField(source="row.pk")
    who = serializers.CharField()
    mine = serializers.BooleanField()
    relevance = serializers.IntegerField(source="row.relevance", allow_null=True)
    cannot_judge = serializers.BooleanField(source="row.cannot_judge")
    verdicts = serializers.DictField(
        source="row.verdicts", child=serializers.ChoiceField(choices=Verdict.Answer.choices)
    )
    words = serializers.CharField(source="row.words")
    at = serializers.DateTimeField(source="row.at")
