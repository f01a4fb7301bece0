"""API resources of samples: runs, drawing, suspects, labels that machines claim, and figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.collection.models import Run
from annotate.judgments.machine_claims import contradicted_labels
from annotate.pairs.models import Narrative
from annotate.projects import access as annotate_access
from annotate.projects.models import Membership
from audit.checks import access, samples
from audit.checks.claims import ClaimSelection, build_frame, refuse_if_blind, why_unfit
from audit.checks.condition_counts import listed_labels
from audit.checks.figures import BOUND, Figures, figures
from audit.checks.forms import SampleForm, SendForm, SuspectsForm
from audit.checks.machines import (
    ContradictedLabel,
    Effect,
    choose_machine,
    describe_labels,
    effect_of_choosing,
)
from audit.checks.models import Sample
from audit.checks.queue import LABEL_FILTERS, SampleRow, filter_labels, sample_rows
from audit.checks.samples import Plan, plan
from audit.checks.suspects import find_suspects
from base.api.bodies import FormBody, FormFields, FormParameters
from base.api.records import RecordSerializer
from base.api.resource import (
    KeyField,
    QueryParameters,
    RequestBody,
    Resource,
    Scope,
    page_response,
    reads,
    requested_part,
    writes,
)


class SentChoice(RequestBody):
    """The machine whose claims count."""

    machine = serializers.CharField(max_length=150, help_text="The machine's name.")


class MachineClaims(Resource, tag="Checks"):
    """The labels that machines claim differently."""

    @reads(ContradictedLabel, paged=True)
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


class _SentClaims(RequestBody):
    """The choice of whose labels are checked."""

    source = serializers.ChoiceField(choices=Sample.Source.choices)  # type: ignore[assignment]
    rater = serializers.CharField(
        max_length=150, required=False, help_text="The machine's name, for `machine`."
    )
    side = serializers.ChoiceField(
        choices=Narrative.Side.choices,
        required=False,
        allow_blank=True,
        help_text="The mode whose labels are checked; all modes if left out.",
    )


class SentPlan(_SentClaims, FormBody):
    """The choices for a random sample, without a name."""

    class Meta:
        form = SampleForm
        fields = ("relevant_only", "asks", "stratify", "per", "size", "seed", "fewer")


class SentSample(SentPlan):
    """The choices for a random sample, with its name."""

    class Meta:
        form = SampleForm
        fields = ("name", "shows_claim", "shows_reason")


class _MissedByRuns(FormFields):
    """How many runs miss a suspect, and when they do."""

    class Meta:
        form = SuspectsForm
        fields = ("depth", "at_least", "below")


class AskedSuspects(_MissedByRuns, FormParameters):
    """The rule for suspects: documents that are claimed relevant and missed by runs."""

    source = serializers.ChoiceField(  # type: ignore[assignment]
        choices=Sample.Source.choices, default=Sample.Source.PRIOR
    )
    rater = serializers.CharField(max_length=150, required=False)
    side = serializers.ChoiceField(choices=Narrative.Side.choices, required=False)
    runs = serializers.RegexField(
        r"^[1-9][0-9]{0,17}(,[1-9][0-9]{0,17})*$",
        required=False,
        help_text="Keys of runs, separated by commas; all runs if left out.",
    )


class SentSuspects(_SentClaims, _MissedByRuns, FormBody):
    """The rule for suspects, and the name of the sample to make of them."""

    runs = serializers.ListField(child=KeyField(), min_length=1, max_length=1_000)

    class Meta:
        form = SendForm


class DrawnSerializer(serializers.ModelSerializer[Sample]):
    """How a sample was made; for leads."""

    rater = serializers.CharField(source="rater.name", allow_null=True, default=None)
    side = serializers.ChoiceField(
        choices=Narrative.Side.choices, allow_blank=True, help_text="The mode; empty for all."
    )

    class Meta:
        model = Sample
        fields = (
            "source",
            "rater",
            "relevant_only",
            "side",
            "stratify",
            "seed",
            "per",
            "size",
            "fewer",
            "at_least",
            "depth",
            "below",
            "shows_claim",
            "shows_reason",
        )
        read_only_fields = fields


class SampleSerializer(RecordSerializer):
    """A sample, and how many of its labels you can check or settle."""

    id = serializers.IntegerField(source="sample.pk")
    asks = serializers.ChoiceField(source="sample.asks", choices=Sample.Asks.choices)
    created_at = serializers.DateTimeField(source="sample.created_at")
    drawn = DrawnSerializer(allow_null=True, help_text="For leads; else null.")

    class Meta:
        record = SampleRow
        fields = (
            *("id", "name", "kind", "asks", "created_at", "drawn"),
            *("items", "checked", "mine", "to_check", "to_settle"),
        )


class SuspectSerializer(serializers.Serializer[Any]):
    """A document that is claimed to be relevant, and how many of the runs miss it."""

    pair_id = serializers.CharField(source="claim.narrative.pair.pair_id")
    query_id = serializers.CharField(source="claim.narrative.pair.query.query_id")
    side = serializers.CharField(source="claim.narrative.side")
    narrative = serializers.IntegerField(source="claim.narrative.pk")
    candidate = serializers.IntegerField(source="claim.candidate")
    doc_id = serializers.CharField(source="claim.doc_id")
    missed = serializers.IntegerField()
    of = serializers.IntegerField()


class RunSerializer(serializers.ModelSerializer[Run]):
    """A system's ranking, as it was loaded."""

    side = serializers.ChoiceField(
        choices=Run.Side.choices,
        help_text="original: over queries; altered, reversed: over such instructions.",
    )

    class Meta:
        model = Run
        fields = ("id", "name", "tag", "side", "sha256", "loaded_at")
        read_only_fields = fields


class Runs(Resource, tag="Checks"):
    """The runs of a project."""

    @reads(RunSerializer, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List the runs that were loaded."""
        member = annotate_access.lead(self.person, slug)
        runs = Run.objects.filter(project=member.project_id)
        return self.page(runs)


class Samples(Resource, tag="Checks"):
    """The samples of a project."""

    @reads(SampleSerializer, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List the samples, with how many labels of each you can check or settle."""
        member = annotate_access.member(self.person, slug)
        samples = Sample.objects.filter(project=member.project_id).select_related("rater")
        return self.page(samples, prepare=lambda rows: sample_rows(member, rows))

    @writes(SampleSerializer, body=SentSample, scope=Scope.LEAD, status=201)
    def post(self, request: Request, slug: str) -> SampleRow:
        """Draw a random sample. The same seed draws the same labels on any installation."""
        member = annotate_access.lead(self.person, slug)
        body = self.body()
        selection = _parse_selection(member, body)
        names = ("name", "stratify", "per", "size", "seed", "fewer", "shows_claim", "shows_reason")
        made = samples.draw_sample(
            selection=selection, by=member, **{name: body[name] for name in names}
        )
        return sample_rows(member, [made])[0]


class SamplePlan(Resource, tag="Checks"):
    """The strata of a sample before it is drawn."""

    @writes(Plan, body=SentPlan, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> Plan:
        """Count the strata. Nothing is drawn."""
        member = annotate_access.lead(self.person, slug)
        body = self.body()
        selection = _parse_selection(member, body)
        if unfit := why_unfit(member.project, selection, body["stratify"]):
            return Plan({}, refused=unfit)
        return plan(
            build_frame(member.project, selection),
            **{name: body[name] for name in ("stratify", "per", "size", "seed", "fewer")},
        )


class Suspects(Resource, tag="Checks"):
    """Documents claimed to be relevant that runs miss."""

    @reads(SuspectSerializer, parameters=AskedSuspects, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List the suspects, most missed first."""
        member = annotate_access.lead(self.person, slug)
        query = self.parameters()
        keys = [int(key) for key in query["runs"].split(",")] if query.get("runs") else None
        runs = _parse_runs(member, keys, "?runs")
        suspects = find_suspects(
            member.project,
            _parse_selection(member, query, "?"),
            runs=runs,
            **{name: query[name] for name in _MissedByRuns.Meta.fields},
        ).suspects
        part, following = requested_part(request, [suspect.key for suspect in suspects])
        return page_response(request, self.shape(suspects[part]), following)

    @writes(SampleSerializer, body=SentSuspects, scope=Scope.LEAD, status=201)
    def post(self, request: Request, slug: str) -> SampleRow:
        """Make a sample of the suspects. It is not a random sample of the labels."""
        member = annotate_access.lead(self.person, slug)
        body = self.body()
        names = (*_MissedByRuns.Meta.fields, *SendForm.base_fields)
        made = samples.pick_suspects(
            selection=_parse_selection(member, body),
            runs=_parse_runs(member, body["runs"], "runs"),
            by=member,
            **{name: body[name] for name in names},
        )
        return sample_rows(member, [made])[0]


class OneSample(Resource, tag="Checks"):
    """One sample."""

    @reads(SampleSerializer)
    def get(self, request: Request, sample: int) -> SampleRow:
        """Read its progress, and how many labels you can check or settle."""
        member, row = access.sample(self.person, sample)
        return sample_rows(member, [row])[0]


def _parse_selection(
    member: Membership, fields: Mapping[str, Any], before: str = ""
) -> ClaimSelection:
    """Return the request for claims; 400 for an unknown machine."""
    rater = None
    if fields["source"] == Sample.Source.MACHINE:
        machines = member.project.memberships.filter(is_machine=True)
        rater = machines.filter(name=fields.get("rater", "")).first()
        if rater is None:
            raise ValidationError(
                {f"{before}rater": ["There is no machine of that name in this project."]}
            )
    elif fields.get("rater"):
        raise ValidationError(
            {f"{before}rater": ["Name a rater only for the judgments of a machine."]}
        )
    selection = ClaimSelection(
        fields["source"],
        rater,
        fields.get("relevant_only", False),
        fields.get("asks", Sample.Asks.GRADE),
        fields.get("side", ""),
    )
    refuse_if_blind(selection, member)
    return selection


def _parse_runs(member: Membership, keys: list[int] | None, field: str) -> list[Run]:
    """Return runs of the project by their keys, or all; 400 for an unknown run."""
    runs = {run.pk: run for run in Run.objects.filter(project=member.project_id).order_by("name")}
    if keys is None:
        return list(runs.values())
    if missing := [key for key in keys if key not in runs]:
        raise ValidationError({field: [f"There is no run {missing[0]} in this project."]})
    return [runs[key] for key in dict.fromkeys(keys)]


class WeightedSerializer(RecordSerializer):
    """A share over strata, weighted by their sizes."""

    class Meta:
        record = "agreement.stratified.Stratified"
        fields: tuple[str, ...] = ("share", "note", "interval", "at_most")


class ProportionSerializer(RecordSerializer):
    """A counted share; null with a reason in `note` where nothing was counted. Its interval and
    bound are null if the labels were chosen, not drawn.
    """

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
    doc_id = serializers.CharField(
        source="name.doc_id",
        allow_null=True,
        help_text="null while you have the document to judge.",
    )
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

    @reads(Figures, parameters=AskedSample)
    def get(self, request: Request, sample: int) -> Figures:
        """Compute the error rates with their intervals, and the agreement of the two checkers."""
        _member, row = access.sample_for_lead(self.person, sample)
        return figures(row, bound=self.parameters()["bound"])


class SampleLabels(Resource, tag="Checks"):
    """The labels of a sample."""

    @reads(LabelRowSerializer, parameters=AskedLabels, paged=True)
    def get(self, request: Request, sample: int) -> Response:
        """List the labels, or some of them."""
        member, row = access.sample_for_lead(self.person, sample)
        rows = filter_labels(row, self.parameters()["show"])
        return self.page(rows, prepare=lambda part: listed_labels(member, row, part))
