"""The kinds of projects, and the kind of a project."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request

from annotate.projects import access, kind_settings
from annotate.projects.kinds import KINDS, ProjectKind, kind_of
from annotate.projects.models import Project
from base.api.records import serializer_of
from base.api.resource import RequestBody, Resource, Scope, reads, writes


class KindOfProjectSerializer(serializers.Serializer[Any]):
    """The kind of a project, and the rules that differ from it."""

    kind = serializers.CharField()
    differences = serializer_of(kind_settings.Difference)(
        many=True, help_text="Rules that the project has changed."
    )


class SentKind(RequestBody):
    """The new kind of a project."""

    kind = serializers.ChoiceField(choices=list(KINDS))


class Kinds(Resource, tag="Projects"):
    """The kinds of projects."""

    @reads(ProjectKind, many=True)
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
