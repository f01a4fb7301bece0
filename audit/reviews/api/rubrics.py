"""API resources of rubrics: those of a project, and the current one."""

from __future__ import annotations

import json
from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from annotate.projects import access
from audit.reviews import project_rubric, rubrics
from audit.reviews.criteria import SHIPPED, Rubric
from audit.reviews.models import Rubric as RubricRow
from base.api.resource import RequestBody, Resource, Scope, reads, writes
from formats.rubrics import RubricFaults, parse_rubric, rubric_object


class LevelSerializer(RequestBody):
    """A level: how well an instruction meets a criterion. Some levels reject the instruction."""

    value = serializers.CharField(max_length=20)
    name = serializers.CharField(max_length=40)
    sentence = serializers.CharField(max_length=300, required=False, allow_blank=True)
    rejects = serializers.BooleanField(required=False)


class CriterionSerializer(RequestBody):
    """One question that an auditor answers about an instruction."""

    key = serializers.CharField(max_length=40)
    name = serializers.CharField(max_length=80)
    asks = serializers.CharField(max_length=500)
    poor_when = serializers.CharField(max_length=500, required=False, allow_blank=True)
    good_example = serializers.CharField(max_length=1_000, required=False, allow_blank=True)
    poor_example = serializers.CharField(max_length=1_000, required=False, allow_blank=True)


class RubricSerializer(RequestBody):
    """A rubric; its content never changes under one name."""

    name = serializers.CharField(max_length=60)
    title = serializers.CharField(max_length=120)
    levels = LevelSerializer(many=True)
    criteria = CriterionSerializer(many=True)


class RubricRowSerializer(serializers.Serializer[Any]):
    """A rubric that a project can choose."""

    rubric = RubricSerializer()
    shipped = serializers.BooleanField(help_text="Whether it comes with Rejudge.")
    in_force = serializers.BooleanField()


class RubricChoiceSerializer(RequestBody):
    """The name of the rubric to make current."""

    name = serializers.CharField(max_length=60)


class Rubrics(Resource, tag="Reviews"):
    """The rubrics that a project can choose."""

    @reads(RubricRowSerializer, many=True, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> list[dict[str, Any]]:
        """List the project's rubrics and those that come with Rejudge, by name."""
        member = access.lead(self.person, slug)
        current = rubrics.current_rubric(member.project_id).name
        own = {row.name: row.content for row in RubricRow.objects.filter(project=member.project_id)}
        available: dict[str, Rubric] = own | SHIPPED
        return [
            {
                "rubric": rubric_object(available[name]),
                "shipped": name in SHIPPED,
                "in_force": name == current,
            }
            for name in sorted(available)
        ]

    @writes(RubricSerializer, body=RubricSerializer, scope=Scope.LEAD, status=201)
    def post(self, request: Request, slug: str) -> dict[str, Any]:
        """Save a rubric and make it current. A name with different content is refused."""
        member = access.lead(self.person, slug)
        try:
            content = parse_rubric(json.dumps(self.body()))
        except RubricFaults as error:
            raise ValidationError(list(error.faults)) from error
        row = project_rubric.save_rubric(project=member.project, content=content, by=member)
        return rubric_object(row.content)


class RubricInForce(Resource, tag="Reviews"):
    """The current rubric, which new reviews use."""

    @reads(RubricSerializer, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> dict[str, Any]:
        """Read the current rubric."""
        member = access.lead(self.person, slug)
        return rubric_object(rubrics.current_rubric(member.project_id))

    @writes(RubricSerializer, body=RubricChoiceSerializer, scope=Scope.LEAD)
    def put(self, request: Request, slug: str) -> dict[str, Any]:
        """Make another rubric current. Versions under review keep the rubric they began with."""
        member = access.lead(self.person, slug)
        name = self.body()["name"]
        row = project_rubric.choose_rubric(project=member.project, name=name, by=member)
        return rubric_object(row.content)
