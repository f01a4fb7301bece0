"""The API of guidelines, of the cases that led to a version, and of its rejudge requests."""

from __future__ import annotations

from typing import Any

from django.db.models import Count
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.guidelines import actions, rejudge_requests
from annotate.guidelines.actions import cases_of
from annotate.guidelines.forms import GuidelineForm, RejudgeForm, SelectionForm
from annotate.projects import access
from annotate.projects.models import Guideline, Membership
from base.api.bodies import FormBody, FormParameters
from base.api.records import RecordSerializer, serializer_of
from base.api.resource import (
    KeyField,
    RequestBody,
    Resource,
    Scope,
    form_errors,
    reads,
    writes,
)


class GuidelineSerializer(serializers.Serializer[Any]):
    """A version of the guidelines, without its text."""

    version = serializers.IntegerField()
    author = serializers.CharField(source="author.name")
    created_at = serializers.DateTimeField()
    cases = serializers.IntegerField(source="linked", help_text="How many cases led to it.")


class CaseSerializer(serializers.Serializer[Any]):
    """A document whose disagreement shows a gap in the guidelines."""

    narrative = serializers.IntegerField(source="narrative.pk")
    candidate = serializers.IntegerField(source="candidate.pk")
    hidden = serializers.BooleanField(help_text="Whether you have yet to judge it yourself.")
    answers = serializers.ListField(
        child=serializers.IntegerField(), source="grades", help_text="Without names."
    )
    settled = serializers.IntegerField(source="decision.relevance", allow_null=True)


class FullGuidelineSerializer(GuidelineSerializer):
    """A version of the guidelines."""

    text = serializers.CharField()
    led_by = CaseSerializer(many=True, allow_null=True, help_text="For leads; else null.")


class SentCase(RequestBody):
    """A case that led to the version."""

    narrative = KeyField()
    candidate = KeyField()


class SentGuideline(FormBody):
    """The next version of the guidelines."""

    cases = serializers.ListField(
        child=SentCase(), required=False, max_length=actions.MAX_CASES, default=list
    )

    class Meta:
        form = GuidelineForm


class Guidelines(Resource, tag="Guidelines"):
    """The guidelines of a project."""

    @reads(GuidelineSerializer, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List the versions, newest first, without their texts."""
        member = access.member(self.person, slug)
        versions = member.project.guidelines.select_related("author").defer("text")
        return self.page(versions.annotate(linked=Count("cases")), newest_first=True)

    @writes(FullGuidelineSerializer, body=SentGuideline, status=201, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> dict[str, Any]:
        """Write the next version: 409 if somebody has saved a newer one than `based_on`."""
        by = access.lead(self.person, slug)
        sent = self.body()
        cases = [(case["narrative"], case["candidate"]) for case in sent.pop("cases")]
        return _full(by, actions.write_guideline(**sent, cases=cases, by=by))


class OneGuideline(Resource, tag="Guidelines"):
    """One version of the guidelines."""

    @reads(FullGuidelineSerializer)
    def get(self, request: Request, slug: str, version: int) -> dict[str, Any]:
        """Read a version."""
        member = access.member(self.person, slug)
        return _full(member, access.guideline(member, version))


class AskedWhich(FormParameters):
    """A selection of the judgments and flags that are older than the version."""

    grade = serializers.IntegerField(
        required=False, min_value=-32_768, max_value=32_767, help_text="Only those with this grade."
    )

    class Meta:
        form = SelectionForm


class SentLooks(AskedWhich, FormBody):
    """The answers to ask for again, and the words of the request."""

    class Meta:
        form = RejudgeForm


class LooksSerializer(RecordSerializer):
    """The answers that could be asked for again, and the status of existing requests."""

    older = serializer_of(rejudge_requests.OlderCount)(
        allow_null=True, help_text="null if there is a newer version."
    )

    class Meta:
        record = rejudge_requests.RequestCounts


class HowManySerializer(serializers.Serializer[Any]):
    """The number of answers concerned."""

    answers = serializers.IntegerField()


class OlderAnswers(Resource, tag="Guidelines"):
    """Rejudge requests for answers older than a version of the guidelines."""

    @reads(LooksSerializer, parameters=AskedWhich)
    def get(self, request: Request, slug: str, version: int) -> dict[str, Any]:
        """Count the older answers that could be asked for again."""
        by = access.lead(self.person, slug)
        guideline = access.guideline(by, version)
        selection = _selection(by, self.parameters())
        is_newest = Guideline.objects.latest_of(by.project) == guideline
        older = rejudge_requests.count_older(guideline, selection) if is_newest else None
        return {"older": older, **rejudge_requests.count_requests(guideline)._asdict()}

    @writes(HowManySerializer, body=SentLooks, scope=Scope.LEAD)
    def post(self, request: Request, slug: str, version: int) -> dict[str, int]:
        """Ask for these answers again."""
        by = access.lead(self.person, slug)
        guideline = access.guideline(by, version)
        sent = self.body()
        asked = rejudge_requests.ask_older(
            guideline=guideline,
            selection=_selection(by, sent),
            words=sent["words"],
            token=sent["token"],
            by=by,
        )
        return {"answers": asked}

    @writes(HowManySerializer, scope=Scope.LEAD)
    def delete(self, request: Request, slug: str, version: int) -> dict[str, int]:
        """Withdraw all open rejudge requests for this version."""
        by = access.lead(self.person, slug)
        count = rejudge_requests.withdraw_older(guideline=access.guideline(by, version), by=by)
        return {"answers": count}


def _selection(by: Membership, asked: dict[str, Any]) -> rejudge_requests.AnswerSelection:
    """Return the selected answers; raise the 400 for a selection the lead may not make."""
    form = SelectionForm(by, {name: asked.get(name, "") for name in ("query", "grade", "among")})
    if not form.is_valid():
        raise form_errors(form)
    return form.selection()


def _full(member: Membership, guideline: Guideline) -> dict[str, Any]:
    return {
        **{name: getattr(guideline, name) for name in ("version", "author", "created_at", "text")},
        "linked": guideline.cases.count(),
        "led_by": cases_of(member, guideline) if member.leads else None,
    }
