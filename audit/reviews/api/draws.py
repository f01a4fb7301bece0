"""API resources of draws: which instructions are reviewed."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request

from annotate.pairs.models import ReviewDraw
from annotate.projects import access
from audit.reviews import draws
from audit.reviews.draws import CurrentDraw
from audit.reviews.forms import ReviewDrawForm
from base.api.records import serializer_of
from base.api.resource import Resource, Scope, reads, writes


class ReviewDrawSerializer(serializers.Serializer[Any]):
    """A draw: only the drawn instructions are reviewed."""

    stratify = serializers.ChoiceField(source="draw.stratify", choices=ReviewDraw.Stratify.choices)
    size = serializers.IntegerField(source="draw.size")
    seed = serializers.IntegerField(source="draw.seed")
    fewer = serializers.BooleanField(source="draw.fewer")
    drawn_at = serializers.DateTimeField(source="draw.drawn_at")
    strata = serializer_of(draws.DrawnStratum)(many=True)


class ReviewDrawInForceSerializer(serializers.Serializer[Any]):
    """The current draw, or null."""

    draw = ReviewDrawSerializer(
        allow_null=True, help_text="null: every instruction is to be reviewed."
    )


class InForce(Resource, tag="Reviews"):
    """The draw that limits what is reviewed."""

    @reads(ReviewDrawInForceSerializer, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> dict[str, CurrentDraw | None]:
        """Read the current draw, with the numbers of each stratum."""
        member = access.lead(self.person, slug)
        return {"draw": draws.current_draw(member.project)}

    @writes(ReviewDrawInForceSerializer, body=ReviewDrawForm, scope=Scope.LEAD)
    def put(self, request: Request, slug: str) -> dict[str, CurrentDraw | None]:
        """Draw the instructions to review. Only these have review tasks from now on."""
        member = access.lead(self.person, slug)
        draws.draw_for_review(project=member.project, by=member, **self.body())
        return {"draw": draws.current_draw(member.project)}

    @writes(None, scope=Scope.LEAD, status=204)
    def delete(self, request: Request, slug: str) -> None:
        """End the current draw, if any: every instruction is to be reviewed."""
        member = access.lead(self.person, slug)
        draws.end_draw(project=member.project, by=member)
