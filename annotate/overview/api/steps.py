"""The steps of a project in the API."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request

from annotate.judgments import completion
from annotate.overview import steps
from annotate.overview.contributions import overview
from annotate.overview.progress import task_progress
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
        judging = completion.judging(member.project)
        context = overview(member, details=True).context
        all_steps = steps.steps(member, judging, task_progress(member, judging), context)
        following = steps.next_step(all_steps)
        return {
            "kind": member.project.kind,
            "next": following.key.value if following else None,
            "steps": all_steps,
        }
