"""Settling disagreements, one at a time or many by a rule, also by the browser's journal."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.utils import timezone
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.judging.api.journal import FormFieldsField, JournalEntry, SavedEntry, Sender
from annotate.judging.forms import StatementUuidField
from annotate.judgments.models import Adjudication
from annotate.projects import access as annotate_access
from annotate.projects.models import Membership
from audit.settling import access, settle_many
from audit.settling.api.disagreements import (
    AskedDisagreements,
    ConditionSettledSerializer,
    SettledSerializer,
    queue_filter_from,
)
from audit.settling.forms import RuleForm, SettleManyForm
from audit.settling.kinds import Disagreement
from audit.settling.kinds.judgments import AdjudicationForm
from audit.settling.kinds.verdicts import VerdictForm
from audit.settling.queue_filters import DisagreementKey, Kind
from base.api.bodies import FormBody
from base.api.records import RecordSerializer
from base.api.resource import KeyField, Resource, Scope, form_errors, reads, writes
from base.errors import Refused
from base.users import User

CHOOSE = "Give either an answer of your own or one to adopt, not both."


class AskedRule(AskedDisagreements):
    """The rule, and a filter of the open disagreements between judges."""

    rule = serializers.ChoiceField(
        choices=settle_many.Rule.values,
        default=settle_many.Rule.MAJORITY.value,
        help_text="majority: as more than half say; alone: as two or more say against only one; "
        "higher, lower: the highest or lowest grade given; earlier: the earlier grade, if somebody "
        "gave it; person: as one says; grade: one grade for all.",
    )
    person = KeyField(required=False, help_text="The key of a member, for `person`.")
    grade = serializers.IntegerField(min_value=-32_768, max_value=32_767, required=False)


class SentMany(AskedRule, FormBody):
    """The rule with its reason, and the token of the preview that was seen."""

    cause = serializers.ChoiceField(
        choices=Adjudication.Cause.choices,
        default="",
        help_text="Why they differ; checked labels need none.",
    )

    class Meta:
        form = SettleManyForm


class SettledAsSerializer(serializers.Serializer[Any]):
    """How many are settled as one grade."""

    relevance = serializers.IntegerField()
    count = serializers.IntegerField()


class SettlingPreviewSerializer(RecordSerializer):
    """The result that settling by a rule would have."""

    settled = SettledAsSerializer(many=True)

    class Meta:
        record = settle_many.Preview
        fields = ("settled", "left", "counts_then", "drops_then", "token")


class BatchSerializer(serializers.Serializer[Any]):
    """The id of decisions that were made together."""

    batch = serializers.UUIDField(
        allow_null=True, help_text="null for checked labels, which are withdrawn one by one."
    )


class BatchRowSerializer(SettledSerializer):
    """One of the decisions that were made together."""

    pair_id = serializers.CharField(source="narrative.pair.pair_id")
    narrative = serializers.IntegerField(source="narrative_id")
    candidate = serializers.IntegerField(source="candidate_id")
    doc_id = serializers.CharField(source="candidate.document.doc_id")


class _Settling(Resource, tag="Disagreements"):
    """The decision on a disagreement: an answer of one's own, or an adopted one."""

    kind: ClassVar[Kind]

    def settle(self, keys: dict[str, int]) -> Any:
        """Settle the disagreement with these keys as the request says; 400 without one answer."""
        disagreement = access.disagreement(self.person, self.kind, **keys)
        body, own = self.body(), disagreement.value
        if (body.get(own) is None) == (body.get("adopt") is None):
            raise ValidationError({own: [CHOOSE]})
        return disagreement.settle(body)

    @writes(None, scope=Scope.LEAD, status=204)
    def delete(self, request: Request, **keys: int) -> None:
        """Withdraw the current decision, so that people differ again."""
        access.disagreement(self.person, self.kind, **keys).withdraw()


class Settling(_Settling):
    """The decision on the grade of a document."""

    kind = Kind.JUDGMENT

    @writes(SettledSerializer, body=AdjudicationForm, scope=Scope.LEAD, status=201)
    def post(self, request: Request, **keys: int) -> Any:
        """Settle it by a relevance of your own or an adopted one. Judgments are not changed."""
        return self.settle(keys)


class ConditionSettling(_Settling):
    """The decision on one condition of a document."""

    kind = Kind.VERDICT

    @writes(ConditionSettledSerializer, body=VerdictForm, scope=Scope.LEAD, status=201)
    def post(self, request: Request, **keys: int) -> Any:
        """Settle it by an answer of your own or an adopted one. Verdicts are not changed."""
        return self.settle(keys)


class SettlingMany(Resource, tag="Disagreements"):
    """Settling many documents, or with `kind=check` many checked labels, at once by one rule."""

    @reads(SettlingPreviewSerializer, parameters=AskedRule)
    def get(self, request: Request, slug: str) -> dict[str, Any]:
        """Preview the result of a rule. Nothing is settled."""
        member = annotate_access.lead(self.person, slug)
        asked = self.parameters()
        choice = _rule_choice(member, asked, "?")
        filters = queue_filter_from(member, _filter_parameters(asked))
        preview = settle_many.preview(member, filters, choice)
        settled = [{"relevance": grade, "count": count} for grade, count in preview.settled.items()]
        return vars(preview) | {"settled": settled}

    @writes(BatchSerializer, body=SentMany, scope=Scope.LEAD, status=201)
    def post(self, request: Request, slug: str) -> dict[str, UUID | None]:
        """Settle exactly what the preview with this token counted. 409 if that has changed."""
        member = annotate_access.lead(self.person, slug)
        body = self.body()
        filters = queue_filter_from(member, _filter_parameters(body), "")
        choice = _rule_choice(member, body, "")
        how: dict[str, Any] = {"reason": body["reason"], "token": body["token"], "by": member}
        if filters.kind is Kind.CHECK:
            settle_many.settle_checks(filters=filters, choice=choice, **how)
            return {"batch": None}
        return {
            "batch": settle_many.settle_many(
                filters=filters, choice=choice, cause=body["cause"], **how
            )
        }


class Batch(Resource, tag="Disagreements"):
    """Decisions that were made together."""

    @reads(BatchRowSerializer, paged=True)
    def get(self, request: Request, slug: str, batch: UUID) -> Response:
        """List its decisions, except those on documents that you have yet to judge."""
        member = annotate_access.lead(self.person, slug)
        data = access.visible_decisions(member, batch).select_related(
            "by", "narrative__pair", "candidate__document"
        )
        return self.page(data.defer("narrative__text"))

    @writes(None, scope=Scope.LEAD, status=204)
    def delete(self, request: Request, slug: str, batch: UUID) -> None:
        """Withdraw all of its decisions that are still current."""
        member = annotate_access.lead(self.person, slug)
        access.batch_decisions(member, batch)
        settle_many.withdraw_batch(batch=batch, by=member)


def _filter_parameters(body: dict[str, Any]) -> dict[str, Any]:
    """Return those parameters that filter disagreements."""
    return {name: body[name] for name in AskedDisagreements().get_fields() if name in body}


def _rule_choice(member: Membership, body: dict[str, Any], before: str) -> settle_many.RuleChoice:
    """Return the rule; 400 if a value it needs is missing or is not in the project."""
    rule = body["rule"]
    # The rules `person` and `grade` need the value of that name.
    form = RuleForm(member, {rule: str(body.get(rule, "")), "rule": rule})
    if not form.is_valid():
        raise form_errors(form, before)
    return form.choice()


class DisagreementField(serializers.Field[DisagreementKey, str, str, Any]):
    """The key of a disagreement."""

    def to_internal_value(self, data: Any) -> DisagreementKey:
        """Parse the key."""
        try:
            return DisagreementKey.parse(str(data))
        except ValueError as error:
            raise serializers.ValidationError("This names no disagreement.") from error


class DecisionEntry(JournalEntry):
    """A decision."""

    disagreement = DisagreementField()
    # The fields of the form on the disagreement's page.
    fields = FormFieldsField()  # type: ignore[assignment]
    # The decision that the page replaces, or None.
    instead_of = StatementUuidField(default=None, allow_null=True)

    def record_entry(self, sent: dict[str, Any], *, by: Sender) -> SavedEntry:
        """Save the decision in place of the one that the page replaces, if that is the reader's."""
        disagreement = _disagreement(by.user, sent["disagreement"])
        form = disagreement.form(sent["fields"])
        if not form.is_valid():
            raise Refused(str(next(iter(form.errors.values()))[0]))
        decided = form.cleaned_data | {"uuid": sent["uuid"]}
        return SavedEntry(disagreement.save_decision(decided, sent["instead_of"]).at)


class DecisionWithdrawalEntry(JournalEntry):
    """The undoing of a decision."""

    disagreement = DisagreementField()
    undoes = StatementUuidField()

    def record_entry(self, sent: dict[str, Any], *, by: Sender) -> SavedEntry:
        """Withdraw the decision, unless it was withdrawn already or a newer one counts."""
        _disagreement(by.user, sent["disagreement"]).undo(sent["undoes"])
        return SavedEntry(timezone.now())


def _disagreement(by: User, key: DisagreementKey) -> Disagreement:
    try:
        return access.disagreement_of(by, key)
    except PermissionDenied as denied:
        raise Refused(str(denied)) from denied


ENTRIES = {"decision": DecisionEntry(), "decision_withdrawal": DecisionWithdrawalEntry()}
