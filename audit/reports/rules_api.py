"""The rules of a project in the API."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.judgments.pair_rules import Rule
from annotate.judgments.tally import rule_report
from annotate.projects import access
from audit.reports.rule_standings import State, rule_standings
from base.api.resource import Resource, Scope, reads


class BreakingSerializer(serializers.Serializer[Any]):
    """A pair that breaks a rule."""

    pair = serializers.IntegerField()
    pair_id = serializers.CharField()
    query_id = serializers.CharField()
    candidates = serializers.ListField(
        child=serializers.IntegerField(), help_text="Documents that break it, if single ones can."
    )
    complying = serializers.IntegerField()
    violating = serializers.IntegerField()
    open = serializers.IntegerField(help_text="Documents that are disputed or not judged.")


class RuleSerializer(serializers.Serializer[Any]):
    """The state of a rule."""

    rule = serializers.ChoiceField(choices=[rule.value for rule in Rule])
    name = serializers.CharField()
    sentence = serializers.CharField()
    limits = serializers.DictField(child=serializers.IntegerField())
    state = serializers.ChoiceField(choices=State.values)
    holds = serializers.IntegerField(help_text="The number of pairs.")
    not_known = serializers.IntegerField(help_text="The number of pairs.")
    broken = BreakingSerializer(many=True)


class RuleStandingsSerializer(serializers.Serializer[Any]):
    """The state of the rules of a project's kind."""

    kind = serializers.CharField()
    hidden = serializers.IntegerField(help_text="Pairs that you still judge; they are left out.")
    rules = RuleSerializer(many=True)


class Rules(Resource):
    """The rules of a project."""

    tag = "Progress"

    @reads(RuleStandingsSerializer, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> Response:
        """Return which rules hold now, which are broken, and by which pairs."""
        member = access.lead(self.person, slug)
        found = rule_report(member)
        rules = [
            {
                "rule": one.rule.value,
                "name": one.name,
                "sentence": one.sentence,
                "limits": dict(one.limits),
                "state": one.state.value,
                "holds": one.holds,
                "not_known": one.not_known,
                "broken": [
                    {
                        "pair": pair.pair.pk,
                        "pair_id": pair.pair.pair_id,
                        "query_id": pair.pair.query.query_id,
                        "candidates": pair.breaking_candidates(one.rule),
                        "complying": pair.counts.compliant,
                        "violating": pair.counts.violating,
                        "open": pair.counts.open,
                    }
                    for pair in one.broken
                ],
            }
            for one in rule_standings(found)
        ]
        return Response({"kind": member.project.kind, "hidden": found.hidden, "rules": rules})
