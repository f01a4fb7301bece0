"""API resources of reports: agreement, comparisons, units, rules, differences and coverage."""

from __future__ import annotations

from typing import Any

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.judgments.blindness import must_answer_first
from annotate.judgments.rule_report import PairStatus, rule_report
from annotate.pairs.api import OfPairSerializer
from annotate.pairs.models import Narrative
from annotate.projects import access as annotate_access
from annotate.projects.api import JobSerializer
from annotate.projects.models import Membership
from audit.reports import access, actions, differences
from audit.reports.coverage import (
    CategoryCoverage,
    CategoryFigures,
    by_category,
    coverage,
)
from audit.reports.models import AgreementReport
from audit.reports.rule_standings import BROKEN_AT_ONCE, RuleStanding, rule_standings
from audit.reports.scopes import FIELDS, describe_scope, scope_of, stored_scope
from audit.reports.scopes import Scope as Part
from audit.reports.unit_table import Of, units
from base.api.records import RecordSerializer
from base.api.resource import (
    KeyField,
    QueryParameters,
    RequestBody,
    Resource,
    Scope,
    reads,
    writes,
)
from base.csv_output import csv_response
from base.errors import InvalidField


class SentPart(RequestBody):
    """A part of a project; without any field, the whole project."""

    query = serializers.CharField(max_length=255, required=False, help_text="A query's id.")
    category = serializers.CharField(max_length=255, required=False)
    domain = serializers.CharField(max_length=120, required=False, help_text="A domain of queries.")
    side = serializers.ChoiceField(choices=Narrative.Side.choices, required=False)
    criterion = serializers.CharField(max_length=40, required=False)
    one = serializers.CharField(
        max_length=150, required=False, help_text="With `other`, the names of two people."
    )
    other = serializers.CharField(max_length=150, required=False)
    guideline = serializers.IntegerField(
        min_value=0, max_value=2**31 - 1, required=False, help_text="0: before the first version."
    )
    week = serializers.DateField(required=False, help_text="Any day of the week.")
    blind = serializers.BooleanField(default=False)


class AskedUnits(SentPart, QueryParameters):
    """Which answers, in which part of the project, with names or numbers for people."""

    of = serializers.ChoiceField(
        choices=[(choice.value, choice.value) for choice in Of], default=Of.JUDGMENTS.value
    )
    numbered = serializers.BooleanField(default=False, help_text="Numbers instead of names.")


class SentComparison(RequestBody):
    """Two parts of a project."""

    part = SentPart(required=False)
    against = SentPart(required=False)


class AgreementReportSerializer(JobSerializer):
    """A report of agreement. The sum is empty for a lead who is still blind, because it would
    reveal whether others have answered since.
    """

    part = serializers.SerializerMethodField()
    compares = serializers.BooleanField()
    against = serializers.SerializerMethodField()
    sha256 = serializers.SerializerMethodField()
    code_version = serializers.CharField(allow_blank=True)

    def get_part(self, report: AgreementReport) -> str:
        """The part in words; empty for the whole."""
        return describe_scope(stored_scope(report.scope))

    def get_against(self, report: AgreementReport) -> str:
        """The other part in words; empty for the whole, and if nothing is compared."""
        return describe_scope(stored_scope(report.against)) if report.compares else ""

    def get_sha256(self, report: AgreementReport) -> str:
        """The sum of what was counted."""
        return "" if self.context["blind"] else report.sha256


class FullAgreementReportSerializer(AgreementReportSerializer):
    """A report with its figures (see docs/reports.md), which are null before it is computed."""

    figures = serializers.DictField(allow_null=True)


class AgreementReports(Resource, tag="Agreement"):
    """The reports of a project's agreement."""

    @reads(AgreementReportSerializer, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List the reports, the newest first, without figures."""
        member = annotate_access.lead(self.person, slug)
        reports = AgreementReport.objects.filter(project=member.project_id).defer("figures")
        return self.page(reports, newest_first=True, blind=must_answer_first(member))

    @writes(AgreementReportSerializer, body=SentPart, scope=Scope.LEAD, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Request a report of a part of the project. One that is under way is returned."""
        member = annotate_access.lead(self.person, slug)
        part = _parse_part(member, self.body())
        made = actions.request_agreement(project=member.project, scope=part, by=member)
        return Response(self.shape(made, blind=must_answer_first(member)), status=201)


class AgreementComparisons(Resource, tag="Agreement"):
    """Comparisons of the agreement in two parts of a project."""

    @writes(AgreementReportSerializer, body=SentComparison, scope=Scope.LEAD, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Request a comparison of two parts. One that is under way is returned."""
        member = annotate_access.lead(self.person, slug)
        body = self.body()
        made = actions.request_comparison(
            project=member.project,
            scope=_parse_part(member, body.get("part", {}), "part"),
            against=_parse_part(member, body.get("against", {}), "against"),
            by=member,
        )
        return Response(self.shape(made, blind=must_answer_first(member)), status=201)


class OneAgreementReport(Resource, tag="Agreement"):
    """One report."""

    @reads(FullAgreementReportSerializer)
    def get(self, request: Request, slug: str, report: int) -> Response:
        """Return its progress and its figures. 403 for a lead who is still blind."""
        _member, row = access.computed_report(self.person, slug, report)
        return Response(self.shape(row, blind=False))


class AgreementUnits(Resource, tag="Agreement"):
    """Unit tables, to compute agreement elsewhere."""

    @reads(OpenApiTypes.STR, parameters=AskedUnits, media="text/csv")
    def get(self, request: Request, slug: str) -> StreamingHttpResponse:
        """Return the current table of units and answers in a part of the project."""
        member = access.unblinded_lead(self.person, slug)
        asked = self.parameters()
        part = _parse_part(member, asked, "?")
        of, numbered = Of(asked["of"]), asked["numbered"]
        return csv_response(units(member.project, part, of, numbered=numbered))


class Differences(Resource, tag="Agreement"):
    """Where people differ."""

    @reads(differences.Differences)
    def get(self, request: Request, slug: str) -> differences.Differences:
        """Count where people differ: by query, category, condition, criterion and grades."""
        member = annotate_access.lead(self.person, slug)
        return differences.differences(member)


class FiguresOfCategories(Resource, tag="Agreement"):
    """The figures of each category of instructions."""

    @reads(CategoryFigures, many=True)
    def get(self, request: Request, slug: str) -> list[CategoryFigures]:
        """Return each category's criteria, decisions and agreement. 403 while still blind."""
        member = access.unblinded_lead(self.person, slug)
        return by_category(member).categories


class Coverage(Resource, tag="Agreement"):
    """How the instructions of a project cover its taxonomy."""

    @reads(CategoryCoverage, many=True)
    def get(self, request: Request, slug: str) -> list[CategoryCoverage]:
        """Count the pairs of each category, and the decisions on them."""
        member = annotate_access.lead(self.person, slug)
        return coverage(member).categories


def _parse_part(member: Membership, fields: dict[str, Any], inside: str = "") -> Part:
    """Return the named part; 400 if something in it is not in the project.

    `inside`: the field of the body that holds the part, or "?" for parameters of the address.
    """
    # 0 is a version of the guidelines; False is a part that is not only blind.
    values = {
        name: str(value)
        for name in FIELDS
        if (value := fields.get(name)) is not None and value is not False
    }
    try:
        return scope_of(member.project, values)
    except InvalidField as refused:
        if inside in ("", "?"):
            raise ValidationError({f"{inside}{refused.field}": [str(refused)]}) from refused
        raise ValidationError({inside: {refused.field: [str(refused)]}}) from refused


class BreakingSerializer(OfPairSerializer):
    """A pair that breaks a rule."""

    candidates = serializers.SerializerMethodField(
        help_text="Documents that break it, if single ones can."
    )
    complying = serializers.IntegerField(source="counts.compliant")
    violating = serializers.IntegerField(source="counts.violating")
    open = serializers.IntegerField(
        source="counts.open", help_text="Documents that are disputed or not judged."
    )

    def get_candidates(self, pair: PairStatus) -> list[int]:
        """Return the documents that break the rule."""
        return list(pair.breaking_candidates(self.context["rule"]))


class RuleSerializer(RecordSerializer):
    """The state of a rule."""

    breaking = serializers.SerializerMethodField(help_text="The number of pairs that break it.")
    broken = serializers.SerializerMethodField()

    class Meta:
        record = RuleStanding
        fields = (
            *("rule", "name", "sentence", "limits", "state", "holds", "not_known"),
            *("breaking", "broken"),
        )

    def get_breaking(self, standing: RuleStanding) -> int:
        """Return the number of pairs that break the rule."""
        return len(standing.broken)

    @extend_schema_field(BreakingSerializer(many=True))
    def get_broken(self, standing: RuleStanding) -> Any:
        """Return a page of the pairs that break the rule."""
        shown = standing.broken_after(self.context["after"])[:BROKEN_AT_ONCE]
        return BreakingSerializer(shown, many=True, context={"rule": standing.rule}).data


class RuleStandingsSerializer(serializers.Serializer[Any]):
    """The state of the rules of a project's kind."""

    kind = serializers.CharField()
    hidden = serializers.IntegerField(help_text="Pairs that you still judge; they are left out.")
    rules = RuleSerializer(many=True)


class AskedRules(QueryParameters):
    """Which of the pairs that break a rule."""

    after = KeyField(required=False, help_text="Those after this one, by its key.")


class Rules(Resource, tag="Progress"):
    """The rules of a project."""

    @reads(RuleStandingsSerializer, parameters=AskedRules)
    def get(self, request: Request, slug: str) -> Response:
        """Return which rules hold now, which are broken, and by which pairs, 20 of each rule."""
        member = annotate_access.lead(self.person, slug)
        report = rule_report(member)
        content = {
            "kind": member.project.kind,
            "hidden": report.hidden,
            "rules": rule_standings(report),
        }
        return Response(self.shape(content, after=self.parameters().get("after", 0)))
