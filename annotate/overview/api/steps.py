"""The steps of a project in the API."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request

from annotate.overview import steps
from annotate.projects import access
from base.api.records import serializer_of
from base.api.resource import Resource, Scope, reads


class StepsSerializer(serializers.Serializer[Any]):
    """The steps of a project, in the order of its kind."""

    kind = serializers.CharField()
    next = serializers.CharField(allow_null=True, help_text="The first that is not done.")
    steps = serializer_of(steps.Step)(many=True)


class Steps(Resource, tag="Progress"):
    """The steps of a project."""

    @reads(StepsSerializer, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> dict[str, Any]:
        """Read the state of each step, and which is next."""
        member = access.lead(self.person, slug)
        all_steps = steps.steps_of(member)
        following = steps.next_step(all_steps)
        return {
            "kind": member.project.kind,
            "next": following.key.value if following else None,
            "steps": all_steps,
        }
