"""API resource of how far a machine may be trusted."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request

from audit.checks.api.samples import (
    CoefficientSerializer,
    IntervalSerializer,
    ProportionSerializer,
    WeightedSerializer,
)
from audit.machines.access import machine_for_lead
from audit.machines.blind_answers import Chosen, first_chosen
from audit.machines.certificates import Certified, EstimatedShare
from audit.machines.trust import Measured, Shares, Trust, trust_of
from base.api.records import RecordSerializer
from base.api.resource import QueryParameters, Resource, Scope, reads


class AskedTrust(QueryParameters):
    """How the documents were chosen; drawn ones by default, if any were drawn."""

    chosen = serializers.ChoiceField(choices=Chosen.choices, required=False)


class MeasuredSerializer(RecordSerializer):
    """A coefficient of agreement."""

    key = serializers.CharField()
    title = serializers.CharField()
    figure = CoefficientSerializer()

    class Meta:
        record = Measured
        fields = ("key", "title", "figure")


class SharesSerializer(RecordSerializer):
    """How the machine meets what people agree on, in all documents, a category or a query."""

    key = serializers.CharField(allow_blank=True)
    documents = serializers.IntegerField()
    same = ProportionSerializer()
    found = ProportionSerializer()
    confirmed = ProportionSerializer()

    class Meta:
        record = Shares
        fields = ("key", "documents", "same", "found", "confirmed")


class EstimatedShareSerializer(RecordSerializer):
    """A share with its 95% interval; `note` says why there is none, or is a remark."""

    value = serializers.FloatField(allow_null=True)
    interval = IntervalSerializer(allow_null=True)
    note = serializers.CharField(allow_blank=True)

    class Meta:
        record = EstimatedShare
        fields = ("value", "interval", "note")


class CertifiedSerializer(RecordSerializer):
    """How many of the labels are wrong at most, and the share of relevant ones."""

    wrong = WeightedSerializer(help_text="Relevant and should not be, or the reverse.")
    by_machine = serializers.FloatField(help_text="Relevant by the machine's labels.")
    by_people = EstimatedShareSerializer(help_text="Relevant by the checked labels alone.")
    combined = EstimatedShareSerializer(help_text="Relevant by both.")

    class Meta:
        record = Certified
        fields = ("wrong", "by_machine", "by_people", "combined")


class MachineTrust(Resource, tag="Agreement"):
    """How far a machine may be trusted."""

    @reads(Trust, parameters=AskedTrust, scope=Scope.LEAD)
    def get(self, request: Request, slug: str, machine: int) -> Any:
        """Compare its grades with those of people who had not seen them. 403 while still blind."""
        _member, row = machine_for_lead(self.person, slug, machine)
        return trust_of(row, Chosen(self.parameters().get("chosen") or first_chosen(row)))
