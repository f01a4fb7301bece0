"""The kinds of projects, and the kind of a project."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request

from annotate.projects import access, kind_settings
from annotate.projects.kinds import KINDS, ProjectKind, kind_of
from annotate.projects.models import Project
from base.api.resource import RequestBody, Resource, Scope, reads, writes


class KindGradeSerializer(serializers.Serializer[Any]):
    """A grade of the kind."""

    value = serializers.IntegerField()
    name = serializers.CharField()
    sentence = serializers.CharField()


class MustHoldSerializer(serializers.Serializer[Any]):
    """A rule of the kind."""

    rule = serializers.CharField()
    limits = serializers.DictField(child=serializers.IntegerField())


class PlannedCheckSerializer(serializers.Serializer[Any]):
    """A sample of labels that the paper's authors checked."""

    sentence = serializers.CharField()
    size = serializers.IntegerField()
    source = serializers.CharField()  # type: ignore[assignment]
    per = serializers.CharField()
    asks = serializers.CharField()
    stratify = serializers.CharField()
    shows_reason = serializers.BooleanField()
    is_drawn = serializers.BooleanField(help_text="False: suspects from runs, which are picked.")
    modes = serializers.ListField(
        child=serializers.CharField(),
        help_text="Sides of the narratives, each with its own sample.",
    )


class KindSerializer(serializers.Serializer[Any]):
    """A kind of project, with everything it sets."""

    key = serializers.CharField()
    name = serializers.CharField()
    sentence = serializers.CharField()
    settings = serializers.DictField(help_text="Rules of the project, by name.")
    grades = KindGradeSerializer(many=True)
    sides = serializers.ListField(child=serializers.CharField())
    must_hold = MustHoldSerializer(many=True)
    steps = serializers.ListField(child=serializers.CharField())
    step_names = serializers.DictField(
        child=serializers.CharField(), help_text="Names of steps that differ in the paper, by key."
    )
    taxonomy = serializers.CharField(allow_blank=True)
    rubric = serializers.CharField(allow_blank=True)
    checks = PlannedCheckSerializer(many=True)
    exports = serializers.ListField(child=serializers.CharField())
    measures = serializers.ListField(child=serializers.CharField())


class DifferenceSerializer(serializers.Serializer[Any]):
    """A rule of the project that differs from what the kind sets."""

    field = serializers.CharField()
    here = serializers.JSONField(source="before")
    of_kind = serializers.JSONField(source="after")


class KindOfProjectSerializer(serializers.Serializer[Any]):
    """The kind of a project, and the rules that differ from it."""

    kind = serializers.CharField()
    differences = DifferenceSerializer(many=True, help_text="Rules that the project has changed.")


class SentKind(RequestBody):
    """The new kind of a project."""

    kind = serializers.ChoiceField(choices=list(KINDS))


class Kinds(Resource, tag="Projects"):
    """The kinds of projects."""

    @reads(KindSerializer, many=True)
    def get(self, request: Request) -> Iterable[ProjectKind]:
        """List the kinds and what each sets."""
        return KINDS.values()


class KindOfProject(Resource, tag="Projects"):
    """The kind of a project."""

    @reads(KindOfProjectSerializer)
    def get(self, request: Request, slug: str) -> dict[str, Any]:
        """Return the kind, and what the project has changed."""
        return _kind_of(access.lead(self.person, slug).project)

    @writes(KindOfProjectSerializer, body=SentKind, scope=Scope.LEAD)
    def put(self, request: Request, slug: str) -> dict[str, Any]:
        """Give the project another kind and its settings; refused if that would lose data."""
        by = access.lead(self.person, slug)
        return _kind_of(kind_settings.change_kind(key=self.body()["kind"], by=by))


def _kind_of(project: Project) -> dict[str, Any]:
    kind = kind_of(project.kind)
    return {"kind": kind.key, "differences": kind_settings.differences(project, kind)}
