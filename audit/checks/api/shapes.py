"""API representations of samples, labels, checks and their figures."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotate.collection.models import Run
from annotate.judgments.models import Verdict
from annotate.pairs.api.shapes import ConditionSerializer, VersionSerializer
from annotate.pairs.models import Narrative
from audit.checks.condition_counts import ErrorMatrix, MatrixRow
from audit.checks.models import Question, Reply, Sample
from base.api.records import RecordSerializer, serializer_of


class IntervalSerializer(serializers.Serializer[Any]):
    """A confidence interval."""

    low = serializers.FloatField()
    high = serializers.FloatField()


class WeightedSerializer(serializers.Serializer[Any]):
    """A share over strata, weighted by their sizes."""

    share = serializers.FloatField(allow_null=True)
    note = serializers.CharField()
    interval = IntervalSerializer(allow_null=True)
    at_most = serializers.FloatField(allow_null=True)


class ProportionSerializer(WeightedSerializer):
    """A counted share; null with a reason in `note` where nothing was counted."""

    count = serializers.IntegerField()
    of = serializers.IntegerField()


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
    """A check of a claimed label by one of the first two."""

    check = serializers.IntegerField(source="row.pk")
    who = serializers.CharField()
    mine = serializers.BooleanField()
    relevance = serializers.IntegerField(source="row.relevance", allow_null=True)
    cannot_judge = serializers.BooleanField(source="row.cannot_judge")
    verdicts = serializers.DictField(
        source="row.verdicts", child=serializers.ChoiceField(choices=Verdict.Answer.choices)
    )
    questions = serializers.DictField(
        source="row.questions",
        child=serializers.ChoiceField(choices=Reply.choices),
        help_text="Answers to the two questions; empty if these are not asked.",
    )
    words = serializers.CharField(source="row.words")
    at = serializers.DateTimeField(source="row.at")


class StratumSerializer(serializers.Serializer[Any]):
    """One stratum: how many claims it has, and how many of them are taken."""

    stratum = serializers.CharField(allow_blank=True)
    size = serializers.IntegerField()
    taken = serializers.IntegerField(allow_null=True)


class PlanSerializer(serializers.Serializer[Any]):
    """What a sample would take; `refused` says why it cannot be drawn, if so."""

    strata = StratumSerializer(many=True)
    without_text = serializers.IntegerField(
        help_text="Labels left out because their documents have no text."
    )
    refused = serializers.CharField(allow_blank=True)


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


class SampleSerializer(serializers.Serializer[Any]):
    """A sample, and how many of its labels you can check or settle."""

    id = serializers.IntegerField(source="sample.pk")
    name = serializers.CharField(help_text="A neutral name if you are blind to the claims.")
    kind = serializers.ChoiceField(
        choices=Sample.Kind.choices,
        allow_null=True,
        help_text="Null if you are blind to the claims.",
    )
    asks = serializers.ChoiceField(source="sample.asks", choices=Sample.Asks.choices)
    created_at = serializers.DateTimeField(source="sample.created_at")
    drawn = DrawnSerializer(allow_null=True, help_text="For leads; else null.")
    items = serializers.IntegerField(source="progress.items")
    checked = serializers.IntegerField(source="progress.checked", allow_null=True)
    mine = serializers.IntegerField(source="progress.mine")
    to_check = serializers.IntegerField(source="progress.to_check")
    to_settle = serializers.IntegerField(source="progress.to_settle")


class QuestionRateSerializer(serializers.Serializer[Any]):
    """Error rate of the labels' claims on one question, among labels that make a claim on it."""

    claimed = serializers.IntegerField()
    rate = ProportionSerializer()
    more = serializers.IntegerField(allow_null=True)


class RatesSerializer(serializers.Serializer[Any]):
    """How many claims are wrong: in being relevant or not (`status`), and in their grade."""

    label = serializers.CharField(allow_blank=True)  # type: ignore[assignment]
    items = serializers.IntegerField()
    checked = serializers.IntegerField()
    unjudgeable = serializers.IntegerField()
    frame = serializers.IntegerField()
    status = ProportionSerializer()
    grade = ProportionSerializer()
    more_status = serializers.IntegerField(allow_null=True)
    more_grade = serializers.IntegerField(allow_null=True)
    questions = serializers.DictField(
        child=QuestionRateSerializer(),
        help_text="By `topic` and `constraint`; empty if these are not asked.",
    )


class QuestionAgreementSerializer(serializers.Serializer[Any]):
    """How much the two agree on one question."""

    question = serializers.ChoiceField(choices=Question.choices)
    percent = CoefficientSerializer()
    kappa = CoefficientSerializer()


class WeightedRatesSerializer(serializers.Serializer[Any]):
    """Error rates for the whole frame, weighted by the sizes of the strata."""

    status = WeightedSerializer()
    grade = WeightedSerializer()


class ConditionCountRowSerializer(RecordSerializer):
    """The checked labels that claim one number of conditions."""

    class Meta:
        record = MatrixRow
        fields = ("claimed", "counts", "checked", "wrong")


class FiguresSerializer(serializers.Serializer[Any]):
    """The figures of a sample."""

    bound = serializers.FloatField()
    overall = RatesSerializer()
    strata = RatesSerializer(many=True)
    weighted = WeightedRatesSerializer(allow_null=True)
    differed = serializers.IntegerField()
    to_settle = serializers.IntegerField()
    settled = serializers.IntegerField()
    unsure = serializers.IntegerField()
    unchecked = serializers.IntegerField()
    percent = CoefficientSerializer()
    kappa = CoefficientSerializer()
    questions = QuestionAgreementSerializer(
        many=True, help_text="On each question; empty if these are not asked."
    )
    sentence = serializers.CharField(allow_blank=True)
    matrix = serializer_of(ErrorMatrix)(
        allow_null=True, help_text="For a sample that asks how many conditions are met."
    )


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


class LabelSerializer(serializers.Serializer[Any]):
    """A claimed label to check, blind to the answers of others."""

    id = serializers.IntegerField(source="item.pk")
    sample = serializers.IntegerField(source="item.sample_id")
    asks = serializers.ChoiceField(source="item.sample.asks", choices=Sample.Asks.choices)
    pair = serializers.IntegerField(source="item.narrative.pair_id")
    pair_id = serializers.CharField(source="item.narrative.pair.pair_id")
    query_id = serializers.CharField(source="item.narrative.pair.query.query_id")
    narrative = VersionSerializer(source="item.narrative")
    conditions = ConditionSerializer(many=True)
    candidate = serializers.IntegerField(source="item.candidate_id")
    name = serializers.CharField(
        source="name.label", help_text="The name on pages: the document's title, or a neutral name."
    )
    doc_id = serializers.CharField(
        source="name.doc_id", allow_null=True, help_text="null until you have answered."
    )
    claimed = serializers.IntegerField(
        allow_null=True, help_text="Null if checkers are blind to it."
    )
    shows_reason = serializers.BooleanField(
        source="item.sample.shows_reason",
        help_text="Whether you may read the reason, once you have answered.",
    )
    reason = serializers.CharField(
        allow_null=True, help_text="Why the document violates; null until you have read it."
    )
    claimed_breaks = serializers.ListField(
        child=serializers.IntegerField(),
        allow_null=True,
        help_text="Conditions claimed to be broken, once you answered and the label is checked.",
    )
    can_check = serializers.BooleanField()
    can_settle = serializers.BooleanField()
    mine = CheckedSerializer(allow_null=True)
    answers = CheckedSerializer(
        many=True, help_text="The two checks, for a third who settles them."
    )


class NextLabelSerializer(serializers.Serializer[Any]):
    """The next label; null if none is left."""

    label = serializers.IntegerField(allow_null=True)  # type: ignore[assignment]


class SuspectSerializer(serializers.Serializer[Any]):
    """A document that is claimed to be relevant, and how many of the runs miss it."""

    pair_id = serializers.CharField(source="claim.narrative.pair_id")
    query_id = serializers.CharField(source="claim.narrative.query_id")
    side = serializers.CharField(source="claim.narrative.side")
    narrative = serializers.IntegerField(source="claim.narrative.pk")
    candidate = serializers.IntegerField(source="claim.candidate")
    doc_id = serializers.CharField(source="claim.doc_id")
    missed = serializers.IntegerField()
    of = serializers.IntegerField()


class RunSerializer(serializers.Serializer[Any]):
    """A system's ranking, as it was loaded."""

    id = serializers.IntegerField(source="pk")
    name = serializers.CharField()
    tag = serializers.CharField(allow_blank=True)
    side = serializers.ChoiceField(
        choices=Run.Side.choices,
        help_text="original: over queries; altered, reversed: over such instructions.",
    )
    sha256 = serializers.CharField()
    loaded_at = serializers.DateTimeField()
