"""API of evaluations: measure systems, and read the results."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.collection.models import Run
from annotate.projects.access import lead
from annotate.projects.api import JobSerializer
from annotate.projects.models import Membership
from base.api.resource import RequestBody, Resource, Scope, reads, writes
from exporters.evaluations import access, tables
from exporters.evaluations.actions import request_evaluation
from exporters.evaluations.models import Evaluation
from exporters.evaluations.systems import SIDES, System
from exporters.releases.models import Release


class SentSystem(RequestBody):
    """A system: its name, and the name of a loaded run for each side that it has."""

    name = serializers.CharField(max_length=255)
    original = serializers.CharField(max_length=255, required=False)
    changed = serializers.CharField(max_length=255, required=False)
    reversed = serializers.CharField(max_length=255, required=False)


class SentEvaluation(RequestBody):
    """The systems to measure, and what to measure them on."""

    systems = SentSystem(many=True, allow_empty=False)
    release = serializers.CharField(
        max_length=60,
        required=False,
        help_text="The name of a release; without it, the current rows are measured.",
    )
    options = serializers.DictField(
        child=serializers.CharField(max_length=200),
        required=False,
        help_text="Values by measure and option, as in p-mrr.documents.",
    )
    baseline = serializers.CharField(
        max_length=255, required=False, help_text="The system that the others are compared with."
    )


class EvaluationSerializer(JobSerializer):
    """An evaluation, without results."""

    release = serializers.CharField(source="release.name", allow_null=True, default=None)
    by = serializers.CharField(source="by.name", allow_null=True, default=None)
    systems = serializers.ListField(child=serializers.DictField())
    options = serializers.DictField(child=serializers.CharField())
    baseline = serializers.CharField(allow_blank=True)
    code_version = serializers.CharField(allow_blank=True)


class FullEvaluationSerializer(EvaluationSerializer):
    """An evaluation with its results, as in docs/evaluation.md; null before it is done."""

    results = serializers.DictField(allow_null=True)


class Evaluations(Resource, tag="Evaluations"):
    """The evaluations of a project."""

    @reads(EvaluationSerializer, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List evaluations, the newest first, without results."""
        member = lead(self.person, slug)
        evaluations = Evaluation.objects.filter(project=member.project_id)
        evaluations = evaluations.select_related("by", "release").defer(
            "results", "release__manifest"
        )
        return self.page(evaluations, newest_first=True)

    @writes(EvaluationSerializer, body=SentEvaluation, scope=Scope.LEAD, status=201)
    def post(self, request: Request, slug: str) -> Evaluation:
        """Measure systems. If the same evaluation is queued or running, it is returned."""
        member = lead(self.person, slug)
        body = self.body()
        return request_evaluation(
            project=member.project,
            measured=[_system(member, system) for system in body["systems"]],
            release=_release(member, body.get("release")),
            options=body.get("options", {}),
            baseline=body.get("baseline", ""),
            by=member,
        )


class OneEvaluation(Resource, tag="Evaluations"):
    """One evaluation."""

    @reads(FullEvaluationSerializer)
    def get(self, request: Request, slug: str, evaluation: int) -> Evaluation:
        """Read the progress and results of an evaluation. 403 for a lead who is still blind."""
        return access.computed_evaluation(self.person, slug, evaluation)


class EvaluationTable(Resource, tag="Evaluations"):
    """One table of an evaluation."""

    @reads(OpenApiTypes.STR, media="text/csv")
    def get(self, request: Request, slug: str, evaluation: int, table: str) -> HttpResponse:
        """Download one of systems, summary, queries, documents, collection, totals, deciding,
        places or estimates.
        """
        row = access.computed_evaluation(self.person, slug, evaluation)
        if row.results is None or table not in tables.TABLES:
            raise Http404("There is no such table of this evaluation.")
        frame = tables.TABLES[table](row.results)
        return HttpResponse(tables.render_table(frame, "csv"), content_type=tables.KINDS["csv"])


def _system(member: Membership, fields: dict[str, Any]) -> System:
    named = {side: fields[side] for side in SIDES if fields.get(side)}
    rows = Run.objects.filter(project=member.project_id, name__in=named.values())
    there = {run.name: run for run in rows}
    if lacking := [name for name in named.values() if name not in there]:
        sentence = f"This project has no run called {lacking[0]}."
        raise ValidationError({"systems": [sentence]})
    return System(fields["name"], {side: there[name] for side, name in named.items()})


def _release(member: Membership, name: str | None) -> Release | None:
    if name is None:
        return None
    release = Release.objects.made().filter(project=member.project_id, name=name).first()
    if release is None:
        sentence = f"This project has no release called {name}."
        raise ValidationError({"release": [sentence]})
    return release
