"""API resources of labels that machines claim differently, and of whose claims count."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.judgments.claims import contradicted_labels
from annotate.pairs.models import Narrative
from audit.checks import access
from audit.checks.machines import Effect, choose_machine, describe_labels, effect_of_choosing
from base.api.resource import RequestBody, Resource, Scope, reads, writes


class MachineGradeSerializer(serializers.Serializer[Any]):
    """The grade that one machine claims."""

    machine = serializers.CharField(source="machine.name")
    relevance = serializers.IntegerField()


class ContradictedLabelSerializer(serializers.Serializer[Any]):
    """A label that machines claim differently."""

    id = serializers.IntegerField(source="first.pk")
    pair = serializers.IntegerField(source="first.narrative.pair_id")
    pair_id = serializers.CharField(source="first.narrative.pair.pair_id")
    side = serializers.ChoiceField(source="first.narrative.side", choices=Narrative.Side.choices)
    narrative = serializers.IntegerField(source="first.narrative_id")
    candidate = serializers.IntegerField(source="first.candidate_id")
    document = serializers.CharField(
        source="document.label",
        help_text="The name on pages: the document's title, or a neutral name.",
    )
    doc_id = serializers.CharField(
        source="document.doc_id", allow_null=True, help_text="null until you have answered."
    )
    claims = MachineGradeSerializer(
        many=True,
        allow_null=True,
        help_text="null while you judge the document or people check the label.",
    )
    counts = serializers.CharField(
        source="counts.name",
        allow_null=True,
        default=None,
        help_text="The machine whose claim counts; null until a lead chooses.",
    )


class SentChoice(RequestBody):
    """The machine whose claims count."""

    machine = serializers.CharField(max_length=150, help_text="The machine's name.")


class MachineClaims(Resource, tag="Checks"):
    """The labels that machines claim differently."""

    @reads(ContradictedLabelSerializer, paged=True, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> Response:
        """List them with each machine's claim, and the machine whose claim counts."""
        member = access.lead_of_claims(self.person, slug)
        rows = contradicted_labels(member.project).select_related(
            "narrative__pair__query", "candidate__document"
        )
        return self.page(rows, prepare=lambda part: describe_labels(member, part))


class MachineChoice(Resource, tag="Checks"):
    """The machine whose claims count where several claim a label."""

    @writes(Effect, body=SentChoice, scope=Scope.LEAD)
    def put(self, request: Request, slug: str) -> Effect:
        """Choose the machine. An earlier choice counts where this machine claims nothing."""
        member = access.lead_of_claims(self.person, slug)
        machines = member.project.memberships.filter(is_machine=True)
        machine = machines.filter(name=self.body()["machine"]).first()
        if machine is None:
            raise ValidationError(
                {"machine": ["There is no machine of that name in this project."]}
            )
        effect = effect_of_choosing(machine)
        choose_machine(machine=machine, by=member)
        return effect
