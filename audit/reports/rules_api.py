"""The rules of a project in the API."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request

from annotate.judgments.tally import PairStatus, rule_report
from annotate.pairs.api.shapes import OfPairSerializer
from annotate.projects import access
from audit.reports.rule_standings import RuleStanding, rule_standings
from base.api.records import RecordSerializer
from base.api.resource import Resource, Scope, reads


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

    broken = serializers.SerializerMethodField()

    class Meta:
        record = RuleStanding
        fields = ("rule", "name", "sentence", "limits", "state", "holds", "not_known", "broken")

    @extend_schema_field(BreakingSerializer(many=True))
    def get_broken(self, standing: RuleStanding) -> Any:
        """Return the pairs that break the rule."""
        return BreakingSerializer(standing.broken, many=True, context={"rule": standing.rule}).data


class RuleStandingsSerializer(serializers.Serializer[Any]):
    """The state of the rules of a project's kind."""

    kind = serializers.CharField()
    hidden = serializers.IntegerField(help_text="Pairs that you still judge; they are left out.")
    rules = RuleSerializer(many=True)


class Rules(Resource, tag="Progress"):
    """The rules of a project."""

    @reads(RuleStandingsSerializer, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> dict[str, Any]:
        """Return which rules hold now, which are broken, and by which pairs."""
        member = access.lead(self.person, slug)
        report = rule_report(member)
        return {
            "kind": member.project.kind,
            "hidden": report.hidden,
            "rules": rule_standings(report),
        }
