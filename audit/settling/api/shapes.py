"""Serializers of disagreements, decisions, reveals and rejudge requests."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotate.guidelines import rejudge_requests
from annotate.judging.forms import SpanSerializer
from annotate.judgments.models import Adjudication, Flag, RejudgeRequest, Verdict
from annotate.pairs.api.shapes import ConditionSerializer, OfNarrativeSerializer, VersionSerializer
from audit.checks.api.shapes import CheckedSerializer
from audit.reviews.api.shapes import (
    VERDICT_CHOICES,
    DecisionSerializer,
    PassSerializer,
    machine_passes_as_json,
    passes_as_json,
)
from audit.settling.disagreements import CheckDisagreement, ReviewDisagreement
from audit.settling.queue_filters import Kind, Order, State
from audit.settling.queue_items import Item
from base.api.resource import KeyField, QueryParameters, RequestBody


class SettledSerializer(serializers.Serializer[Any]):
    """A decision on the grade of a document, current or withdrawn."""

    relevance = serializers.IntegerField()
    cause = serializers.ChoiceField(choices=Adjudication.Cause.choices)
    reason = serializers.CharField()
    by = serializers.CharField(source="by.name")
    at = serializers.DateTimeField()
    batch = serializers.UUIDField(allow_null=True)
    withdrawn_at = serializers.DateTimeField(allow_null=True)


class ConditionSettledSerializer(serializers.Serializer[Any]):
    """A decision on whether a document meets a condition, current or withdrawn."""

    answer = serializers.ChoiceField(choices=Verdict.Answer.choices)
    cause = serializers.ChoiceField(choices=Adjudication.Cause.choices)
    reason = serializers.CharField()
    by = serializers.CharField(source="by.name")
    at = serializers.DateTimeField()
    withdrawn_at = serializers.DateTimeField(allow_null=True)


class VoiceSerializer(serializers.Serializer[Any]):
    """One person's answer in the list: by kind a relevance, an answer, or the number of criteria
    they reject.
    """

    who = serializers.CharField(source="name", help_text="A pseudonym where names are hidden.")
    relevance = serializers.IntegerField(allow_null=True)
    answer = serializers.CharField()
    rejects = serializers.IntegerField(allow_null=True)


class DisagreementSerializer(OfNarrativeSerializer):
    """A disagreement, open or settled."""

    key = serializers.CharField(source="key.disagreement_key")
    kind = serializers.ChoiceField(source="key.kind.value", choices=Kind.values)
    narrative = serializers.IntegerField(source="narrative.pk")
    candidate = serializers.IntegerField(source="candidate.pk", allow_null=True, default=None)
    doc_id = serializers.CharField(
        source="candidate.document.doc_id", allow_null=True, default=None
    )
    condition = serializers.IntegerField(source="condition.pk", allow_null=True, default=None)
    label = serializers.IntegerField(source="sample.pk", allow_null=True, default=None)  # type: ignore[assignment]
    distance = serializers.IntegerField()
    decides = serializers.BooleanField(help_text="Whether settling decides if it counts.")
    since = serializers.DateTimeField(source="key.at")
    answers = VoiceSerializer(source="voices", many=True)
    settled = serializers.BooleanField()
    waiting = serializers.SerializerMethodField(
        help_text="Whether an annotator was asked again and has yet to answer."
    )

    def get_waiting(self, item: Item) -> bool:
        """Whether an annotator was asked again and has yet to answer."""
        return item.rejudge_request is not None and item.rejudge_request.judgment.is_current


class JudgmentHereSerializer(serializers.Serializer[Any]):
    """One person's judgment of a document that people differ on."""

    judgment = serializers.IntegerField(source="row.pk")
    who = serializers.CharField()
    mine = serializers.BooleanField()
    relevance = serializers.IntegerField(source="row.relevance")
    verdicts = serializers.DictField(
        source="row.answers", child=serializers.ChoiceField(choices=Verdict.Answer.choices)
    )
    note = serializers.CharField(source="row.note")
    evidence = SpanSerializer(source="row.evidence", many=True)
    clauses = SpanSerializer(source="row.clauses", many=True)
    at = serializers.DateTimeField(source="row.at")


class FlagHereSerializer(serializers.Serializer[Any]):
    """A current flag on the document."""

    who = serializers.CharField(allow_null=True)
    kind = serializers.ChoiceField(source="flag.flag", choices=Flag.Kind.choices)
    words = serializers.CharField(source="flag.note")


class MachineSerializer(serializers.Serializer[Any]):
    """A machine's judgment of the document."""

    name = serializers.CharField(source="annotator.name")
    relevance = serializers.IntegerField()


class RevealSerializer(serializers.Serializer[Any]):
    """A record that somebody looked up the names."""

    id = serializers.IntegerField(source="pk")
    narrative = serializers.IntegerField(source="narrative_id")
    candidate = serializers.IntegerField(source="candidate_id", allow_null=True)
    label = serializers.IntegerField(source="item_id", allow_null=True)  # type: ignore[assignment]
    by = serializers.CharField(source="by.name")
    at = serializers.DateTimeField()


class RejudgeRequestSerializer(serializers.Serializer[Any]):
    """A request to somebody to look at their answer again."""

    id = serializers.IntegerField(source="pk")
    judgment = serializers.IntegerField(source="judgment_id")
    words = serializers.CharField()
    by = serializers.CharField(source="by.name")
    at = serializers.DateTimeField()
    waits = serializers.SerializerMethodField(help_text="Whether it is not answered yet.")
    withdrawn_at = serializers.DateTimeField(allow_null=True)

    def get_waits(self, rejudge_request: RejudgeRequest) -> bool:
        """Whether it still waits for an answer."""
        return rejudge_request.withdrawn_at is None and rejudge_request.judgment.is_current


class _AboutSerializer(OfNarrativeSerializer):
    """The instruction it belongs to, and whether people differ on it."""

    narrative = VersionSerializer()
    differs = serializers.BooleanField()
    hidden = serializers.BooleanField(
        source="naming.hidden", help_text="Whether names are replaced by pseudonyms."
    )
    reveals = RevealSerializer(source="naming.reveals", many=True)


class JudgmentDisagreementSerializer(_AboutSerializer):
    """The judgments of a document under a narrative version, and the decisions on it."""

    candidate = serializers.IntegerField(source="candidate.pk")
    doc_id = serializers.CharField(source="candidate.document.doc_id")
    answers = JudgmentHereSerializer(many=True)
    machines = MachineSerializer(many=True)
    flags = FlagHereSerializer(many=True)
    decisions = SettledSerializer(many=True, help_text="The newest first; at most one is current.")
    rejudge_requests = RejudgeRequestSerializer(many=True)


class AnsweredSerializer(serializers.Serializer[Any]):
    """One person's answer to a condition."""

    verdict = serializers.IntegerField(source="row.pk")
    judgment = serializers.IntegerField(source="row.statement_id")
    who = serializers.CharField()
    mine = serializers.BooleanField()
    answer = serializers.ChoiceField(source="row.answer", choices=Verdict.Answer.choices)
    note = serializers.CharField(source="row.statement.note")


class VerdictDisagreementSerializer(_AboutSerializer):
    """The verdicts on one condition of a document, and the decisions on it."""

    candidate = serializers.IntegerField(source="candidate.pk")
    doc_id = serializers.CharField(source="candidate.document.doc_id")
    condition = ConditionSerializer()
    answers = AnsweredSerializer(many=True)
    decisions = ConditionSettledSerializer(many=True)
    rejudge_requests = RejudgeRequestSerializer(many=True)


class ReviewDisagreementSerializer(_AboutSerializer):
    """The reviews of a narrative version, and the decisions on it."""

    answers = serializers.SerializerMethodField()
    machines = serializers.SerializerMethodField(help_text="They never count in the verdict.")
    verdict = serializers.ChoiceField(choices=VERDICT_CHOICES)
    decisions = DecisionSerializer(many=True)

    @extend_schema_field(PassSerializer(many=True))
    def get_answers(self, disagreement: ReviewDisagreement) -> Any:
        """Return people's reviews; without times while names are hidden."""
        names = disagreement.names if disagreement.naming.hidden else None
        return PassSerializer(
            passes_as_json(disagreement.passes, disagreement.member, names), many=True
        ).data

    @extend_schema_field(PassSerializer(many=True))
    def get_machines(self, disagreement: ReviewDisagreement) -> Any:
        """Return the reviews by machines."""
        return PassSerializer(machine_passes_as_json(disagreement.machines), many=True).data


class SettlementSerializer(serializers.Serializer[Any]):
    """How a third person settled a claimed label."""

    by = serializers.CharField(source="checker.name")
    relevance = serializers.IntegerField(allow_null=True)
    cannot_judge = serializers.BooleanField()
    verdicts = serializers.DictField(child=serializers.ChoiceField(choices=Verdict.Answer.choices))
    words = serializers.CharField()
    at = serializers.DateTimeField()


class CheckDisagreementSerializer(_AboutSerializer):
    """The two checks of a claimed label, and how a third person settled it."""

    label = serializers.IntegerField(source="item.pk")  # type: ignore[assignment]
    candidate = serializers.IntegerField(source="candidate.pk")
    doc_id = serializers.CharField(source="candidate.document.doc_id")
    claimed = serializers.SerializerMethodField(
        help_text="Null while the person who settles must not see it."
    )
    answers = CheckedSerializer(many=True)
    settled = SettlementSerializer(source="third", allow_null=True)

    def get_claimed(self, disagreement: CheckDisagreement) -> int | None:
        """Return the claimed relevance, if the reader may see it."""
        return (
            disagreement.item.claimed
            if disagreement.shows_claim(differs=disagreement.differs())
            else None
        )


# --- resources ------------------------------------------------------------------------------------


class AskedDisagreements(QueryParameters):
    """The filter and order; without any, all open disagreements."""

    state = serializers.ChoiceField(choices=State.values, required=False)
    kind = serializers.ChoiceField(choices=Kind.values, required=False)
    query = serializers.CharField(max_length=255, required=False, help_text="A query's id.")
    criterion = serializers.CharField(max_length=40, required=False)
    condition = serializers.CharField(
        max_length=255, required=False, help_text="The name of a condition, or its number."
    )
    one = KeyField(
        required=False,
        help_text="With `other`, the keys of two members; only if names are shown.",
    )
    other = KeyField(required=False)
    document = serializers.CharField(max_length=255, required=False, help_text="A document's id.")
    grade_one = serializers.IntegerField(
        required=False, help_text="A grade that somebody gave the document."
    )
    grade_other = serializers.IntegerField(
        required=False, help_text="Another grade that somebody gave it."
    )
    decides = serializers.BooleanField(
        required=False, help_text="true: only those where settling decides what counts."
    )
    settled_cause = serializers.ChoiceField(
        choices=Adjudication.Cause.choices,
        required=False,
        help_text="The cause of the decision; only with `state=settled`.",
    )
    only = serializers.CharField(
        max_length=20_000, required=False, help_text="The `key`s of rows, joined by commas."
    )
    order = serializers.ChoiceField(choices=Order.values, required=False)


class CountsSerializer(serializers.Serializer[Any]):
    """The number of disagreements of each kind."""

    judgment = serializers.IntegerField()
    verdict = serializers.IntegerField()
    review = serializers.IntegerField()
    check = serializers.IntegerField()


class SentRejudgeRequest(RequestBody):
    """Which judgment to look at again, and why."""

    judgment = KeyField()
    words = serializers.CharField(max_length=rejudge_requests.MAX_WORDS)
