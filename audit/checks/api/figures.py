"""API resources of what came of a sample: its figures and its labels."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.projects import access as annotate_access
from audit.checks import access
from audit.checks.condition_counts import listed_labels
from audit.checks.figures import BOUND, Figures, figures
from audit.checks.queue import LABEL_FILTERS, filter_labels
from base.api.records import RecordSerializer
from base.api.resource import QueryParameters, Resource, Scope, reads


class WeightedSerializer(RecordSerializer):
    """A share over strata, weighted by their sizes."""

    class Meta:
        record = "agreement.stratified.Stratified"
        fields: tuple[str, ...] = ("share", "note", "interval", "at_most")


class ProportionSerializer(RecordSerializer):
    """A counted share; null with a reason in `note` where nothing was counted."""

    class Meta:
        record = "agreement.proportion.Proportion"
        fields = (*WeightedSerializer.Meta.fields, "count", "of")


class CoefficientSerializer(RecordSerializer):
    """A coefficient of agreement; null with a reason in `note` where it is undefined."""

    class Meta:
        record = "agreement.Coefficient"
        fields = ("name", "value", "note", "interval", "interval_note", "units", "raters")


class LabelRowSerializer(serializers.Serializer[Any]):
    """A claimed label. The two answers appear once both are given, the claim once the label is
    checked, because leads check too.
    """

    id = serializers.IntegerField(source="pk")
    pair_id = serializers.CharField(source="narrative.pair.pair_id")
    narrative = serializers.IntegerField(source="narrative_id")
    side = serializers.CharField(source="narrative.side")
    candidate = serializers.IntegerField(source="candidate_id")
    doc_id = serializers.CharField(source="candidate.document.doc_id")
    stratum = serializers.CharField(allow_blank=True)
    missed = serializers.IntegerField(allow_null=True)
    answered = serializers.IntegerField(help_text="How many of the two have checked it.")
    first = serializers.IntegerField(allow_null=True)
    second = serializers.IntegerField(allow_null=True)
    outcome = serializers.IntegerField(allow_null=True)
    claimed = serializers.IntegerField(allow_null=True)
    claimed_topic = serializers.BooleanField(allow_null=True)
    claimed_constraint = serializers.BooleanField(allow_null=True)
    unjudgeable = serializers.BooleanField()
    claimed_breaks = serializers.ListField(
        source="broken.claimed",
        child=serializers.IntegerField(),
        allow_null=True,
        help_text="The numbers of the conditions claimed not to be met; null if not claimed.",
    )
    checked_breaks = serializers.ListField(
        source="broken.checked",
        child=serializers.IntegerField(),
        allow_null=True,
        help_text="Those not met as checked; null if the two agree only on the number.",
    )


class AskedSample(QueryParameters):
    """The rate that the error bound should come below."""

    bound = serializers.FloatField(min_value=0.0001, max_value=0.5, default=BOUND)


class AskedLabels(QueryParameters):
    """The filter of labels; all by default."""

    show = serializers.ChoiceField(choices=list(LABEL_FILTERS), default="all")


class SampleFigures(Resource, tag="Checks"):
    """The figures of a sample."""

    @reads(Figures, parameters=AskedSample, scope=Scope.LEAD)
    def get(self, request: Request, sample: int) -> Figures:
        """Compute the error rates with their intervals, and the agreement of the two checkers."""
        member, row = access.sample(self.person, sample)
        annotate_access.lead(self.person, member.project.slug)
        return figures(row, bound=self.parameters()["bound"])


class SampleLabels(Resource, tag="Checks"):
    """The labels of a sample."""

    @reads(LabelRowSerializer, parameters=AskedLabels, paged=True, scope=Scope.LEAD)
    def get(self, request: Request, sample: int) -> Response:
        """List the labels, or some of them."""
        member, row = access.sample(self.person, sample)
        annotate_access.lead(self.person, member.project.slug)
        rows = filter_labels(row, self.parameters()["show"])
        return self.page(rows, prepare=lambda part: listed_labels(row, part))
