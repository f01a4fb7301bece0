"""API resources of how far a machine may be trusted, and of second looks at its labels."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request

from audit.checks.api.samples import SampleSerializer, WeightedSerializer
from audit.checks.queue import SampleRow, sample_rows
from audit.machines.blind_answers import Chosen, first_chosen
from audit.machines.certificates import Certified
from audit.machines.second_look import SecondLook, SecondLookForm, second_looks, take_second_look
from audit.machines.trust import Trust, trust_of
from audit.model_runs import access
from base.api.records import RecordSerializer
from base.api.resource import QueryParameters, Resource, Scope, reads, writes


class AskedTrust(QueryParameters):
    """How the documents were chosen; drawn ones by default, if any were drawn."""

    chosen = serializers.ChoiceField(choices=Chosen.choices, required=False)


class EstimatedShareSerializer(RecordSerializer):
    """A share with its 95% interval; `note` says why there is none, or is a remark."""

    class Meta:
        record = "agreement.prediction_powered.Estimate"


class CertifiedSerializer(RecordSerializer):
    """How many of the labels are wrong at most, and the share of relevant ones."""

    wrong = WeightedSerializer(help_text="Relevant and should not be, or the reverse.")

    class Meta:
        record = Certified
        fields = ("wrong", "by_machine", "by_people", "combined")


class MachineTrust(Resource, tag="Agreement"):
    """How far a machine may be trusted."""

    @reads(Trust, parameters=AskedTrust)
    def get(self, request: Request, slug: str, machine: int) -> Any:
        """Compare its grades with those of people who had not seen them. 403 while still blind."""
        _member, row = access.machine(self.person, slug, machine)
        return trust_of(row, Chosen(self.parameters().get("chosen") or first_chosen(row)))


class SecondLooks(Resource, tag="Checks"):
    """Samples of labels of a machine that are in doubt."""

    @reads(SecondLook, many=True)
    def get(self, request: Request, slug: str, machine: int) -> list[SecondLook]:
        """Count the labels in doubt, by kind. 403 while you are still blind."""
        return second_looks(access.machine(self.person, slug, machine)[1])

    @writes(SampleSerializer, body=SecondLookForm, scope=Scope.LEAD, status=201)
    def post(self, request: Request, slug: str, machine: int) -> SampleRow:
        """Make a sample of the labels in most doubt, for people who are still blind to them.

        It is not a random sample of the labels. 403 while you are still blind.
        """
        member, row = access.machine(self.person, slug, machine)
        sample = take_second_look(machine=row, by=member, **self.body())
        return sample_rows(member, [sample])[0]
