"""Settling what people differ on, one at a time or many by a rule, and taking that back."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import OuterRef
from django.http import Http404
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.judgments.blindness import exclude_unjudged
from annotate.judgments.models import Adjudication, Judgment, Verdict
from annotate.projects import access as annotate_access
from annotate.projects.models import Membership
from audit.settling import access, adjudication, batches, settle_many
from audit.settling.api.disagreements import wanted_by
from audit.settling.api.shapes import (
    AskedDisagreements,
    ConditionSettledSerializer,
    SettledSerializer,
)
from audit.settling.kinds.frame import Reader
from base.api.resource import KeyField, Resource, Scope, Sent, done, reads, writes

CHOOSE = gettext_lazy("Give an answer of your own, or adopt one that was given: one of the two.")


class _SentSettling(Sent):
    """Why they differ, and why it is settled so."""

    cause = serializers.ChoiceField(choices=Adjudication.Cause.choices)
    reason = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=adjudication.MAX_REASON,
        help_text="Where an answer is adopted without one, its words are taken.",
    )


class SentAdjudication(_SentSettling):
    """How a document is settled: a relevance, or one that somebody gave."""

    relevance = serializers.IntegerField(
        min_value=-32_768, max_value=32_767, required=False, allow_null=True
    )
    adopt = KeyField(required=False, allow_null=True, help_text="The key of a judgment.")


class SentConditionAdjudication(_SentSettling):
    """How a condition is settled: an answer, or one that somebody gave."""

    answer = serializers.ChoiceField(
        choices=Verdict.Answer.choices, required=False, allow_null=True
    )
    adopt = KeyField(required=False, allow_null=True, help_text="The key of a verdict.")


class AskedRule(AskedDisagreements):
    """By which rule, and which of the open ones that judges differ on."""

    rule = serializers.ChoiceField(
        choices=[(one.value, one.value) for one in settle_many.Rule],
        default=settle_many.Rule.MAJORITY.value,
        help_text="majority: as more than half say; person: as one says; grade: all alike.",
    )
    person = KeyField(required=False, help_text="The key of a member, for `person`.")
    grade = serializers.IntegerField(min_value=-32_768, max_value=32_767, required=False)


class SentMany(AskedRule, Sent):
    """The rule with its reason, and the token of the preview that was seen."""

    cause = serializers.ChoiceField(choices=Adjudication.Cause.choices)
    reason = serializers.CharField(max_length=adjudication.MAX_REASON)
    token = serializers.CharField(max_length=100)


class SettledAsSerializer(serializers.Serializer[Any]):
    """How many are settled as one grade."""

    relevance = serializers.IntegerField()
    count = serializers.IntegerField()


class SettlingPreviewSerializer(serializers.Serializer[Any]):
    """What settling by a rule would come to."""

    settled = SettledAsSerializer(many=True)
    left = serializers.IntegerField(help_text="Where the rule says nothing.")
    counts_then = serializers.IntegerField(help_text="That count as relevant then.")
    drops_then = serializers.IntegerField(help_text="That do not count then.")
    token = serializers.CharField()


class BatchSerializer(serializers.Serializer[Any]):
    """What was settled together."""

    batch = serializers.UUIDField()


class BatchRowSerializer(SettledSerializer):
    """One of the decisions that were made together."""

    pair_id = serializers.CharField(source="narrative.pair.pair_id")
    narrative = serializers.IntegerField(source="narrative_id")
    candidate = serializers.IntegerField(source="candidate_id")
    doc_id = serializers.CharField(source="candidate.document.doc_id")


class Settling(Resource):
    """The decision on what judges of a document differ on."""

    tag = "Disagreements"

    @writes(SettledSerializer, sent=SentAdjudication, scope=Scope.LEAD, status=201)
    def post(self, request: Request, narrative: int, candidate: int) -> Response:
        """Settle it, by a relevance of your own or one that is adopted. Judgments stay."""
        disagreement = access.judgment_disagreement(self.person, narrative, candidate)
        given = self.sent()
        why = {
            "cause": given["cause"],
            "reason": given.get("reason", ""),
            "by": disagreement.member,
        }
        _one_of(given, "relevance", "adopt")
        if given.get("adopt") is not None:
            made = adjudication.adopt(judgment=access.judgment(disagreement, given["adopt"]), **why)
        else:
            made = adjudication.adjudicate(
                narrative=disagreement.narrative,
                candidate=disagreement.candidate,
                relevance=given["relevance"],
                **why,
            )
        return Response(SettledSerializer(made).data, status=201)

    @writes(None, scope=Scope.LEAD, status=204)
    def delete(self, request: Request, narrative: int, candidate: int) -> Response:
        """Take the decision that stands back: people differ here again."""
        disagreement = access.judgment_disagreement(self.person, narrative, candidate)
        adjudication.withdraw_adjudication(
            adjudication=access.adjudication(disagreement), by=disagreement.member
        )
        return done()


class ConditionSettling(Resource):
    """The decision on what judges of a condition differ on."""

    tag = "Disagreements"

    @writes(
        ConditionSettledSerializer, sent=SentConditionAdjudication, scope=Scope.LEAD, status=201
    )
    def post(self, request: Request, condition: int, candidate: int) -> Response:
        """Settle it, by an answer of your own or one that is adopted. Verdicts stay."""
        disagreement, found = access.verdict_disagreement(self.person, condition, candidate)
        given = self.sent()
        why = {
            "cause": given["cause"],
            "reason": given.get("reason", ""),
            "by": disagreement.member,
        }
        _one_of(given, "answer", "adopt")
        if given.get("adopt") is not None:
            verdict = access.verdict(disagreement, found, given["adopt"])
            made = adjudication.adopt_verdict(verdict=verdict, **why)
        else:
            made = adjudication.settle_condition(
                condition=found, candidate=disagreement.candidate, answer=given["answer"], **why
            )
        return Response(ConditionSettledSerializer(made).data, status=201)

    @writes(None, scope=Scope.LEAD, status=204)
    def delete(self, request: Request, condition: int, candidate: int) -> Response:
        """Take the decision that stands back: people differ here again."""
        disagreement, found = access.verdict_disagreement(self.person, condition, candidate)
        adjudication.withdraw_adjudication(
            adjudication=access.condition_adjudication(found, disagreement.candidate),
            by=disagreement.member,
        )
        return done()


class SettlingMany(Resource):
    """Settling many documents at once by one rule."""

    tag = "Disagreements"

    @reads(SettlingPreviewSerializer, asked=AskedRule, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> Response:
        """Count what a rule would come to. Nothing is settled."""
        member = annotate_access.lead(self.person, slug)
        asked = self.asked()
        how = _how(member, asked, "?")
        found = settle_many.preview(member, wanted_by(member, _filter(asked)), how)
        told = {
            "settled": [
                {"relevance": grade, "count": count} for grade, count in found.settled.items()
            ],
            "left": found.left,
            "counts_then": found.counts_then,
            "drops_then": found.drops_then,
            "token": found.token,
        }
        return Response(SettlingPreviewSerializer(told).data)

    @writes(BatchSerializer, sent=SentMany, scope=Scope.LEAD, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Settle just what the preview with this token counted. 409 where that has changed."""
        member = annotate_access.lead(self.person, slug)
        given = self.sent()
        batch = settle_many.settle_many(
            wanted=wanted_by(member, _filter(given), ""),
            how=_how(member, given, ""),
            cause=given["cause"],
            reason=given["reason"],
            token=given["token"],
            by=member,
        )
        return Response({"batch": str(batch)}, status=201)


class Batch(Resource):
    """What was settled together."""

    tag = "Disagreements"

    @reads(BatchRowSerializer, paged=True, scope=Scope.LEAD)
    def get(self, request: Request, slug: str, batch: UUID) -> Response:
        """List its decisions, but those on documents that you have yet to judge."""
        member = annotate_access.lead(self.person, slug)
        mine = Judgment.objects.current().filter(
            narrative=OuterRef("narrative_id"), candidate=OuterRef("candidate_id"), annotator=member
        )
        told = exclude_unjudged(
            _of_batch(member, batch), Reader(member).to_judge, "narrative__pair", mine
        ).select_related("by", "narrative__pair", "candidate__document")
        return self.page(
            told.defer("narrative__text"),
            lambda rows: list(BatchRowSerializer(rows, many=True).data),
        )

    @writes(None, scope=Scope.LEAD, status=204)
    def delete(self, request: Request, slug: str, batch: UUID) -> Response:
        """Take back all of it that still stands."""
        member = annotate_access.lead(self.person, slug)
        _of_batch(member, batch)
        batches.withdraw_batch(batch=batch, by=member)
        return done()


def _one_of(given: dict[str, Any], own: str, adopted: str) -> None:
    if (given.get(own) is None) == (given.get(adopted) is None):
        raise ValidationError({own: [str(CHOOSE)]})


def _filter(given: dict[str, Any]) -> dict[str, Any]:
    """The part of what was sent that says which disagreements are meant."""
    return {name: given[name] for name in AskedDisagreements().get_fields() if name in given}


def _how(member: Membership, given: dict[str, Any], before: str) -> settle_many.How:
    """The rule; 400 without what it needs, or for somebody who is not in the project."""
    rule = settle_many.Rule(given["rule"])
    needed = {settle_many.Rule.PERSON: "person", settle_many.Rule.GRADE: "grade"}.get(rule)
    if needed is not None and given.get(needed) is None:
        raise ValidationError({f"{before}{needed}": [_("This rule needs it.")]})
    if rule is settle_many.Rule.PERSON:
        if member.project.hide_names:
            raise ValidationError(
                {f"{before}rule": [str(settle_many.NO_PERSON_WHILE_NAMES_ARE_HIDDEN)]}
            )
        people = Membership.objects.people().filter(project=member.project_id)
        if not people.filter(pk=given["person"]).exists():
            raise ValidationError({f"{before}person": [_("There is no such person here.")]})
        return settle_many.How(rule, person=given["person"])
    if rule is settle_many.Rule.GRADE:
        if not member.project.grades.filter(value=given["grade"]).exists():
            raise ValidationError({f"{before}grade": [_("There is no such grade here.")]})
        return settle_many.How(rule, grade=given["grade"])
    return settle_many.How(rule)


def _of_batch(member: Membership, batch: UUID) -> Any:
    """The decisions of a batch of the lead's project, or Http404."""
    found = Adjudication.objects.filter(batch=batch, by__project=member.project_id)
    if not found.exists():
        raise Http404("There is nothing of the kind in this project.")
    return found
