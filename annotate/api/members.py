"""Who is in a project, and as what."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate import access
from annotate.actions import members as actions
from annotate.api.frame import Resource, Scope, Sent, reads, writes
from annotate.models import Membership


class MemberSerializer(serializers.ModelSerializer[Membership]):
    """Someone who works, or worked, in a project: a person, a name from a file, or a machine."""

    class Meta:
        model = Membership
        fields = ("id", "name", "role", "is_machine", "joined_at", "left_at")
        read_only_fields = fields


class SentChange(Sent):
    """What shall change of a member: one of the two."""

    role = serializers.ChoiceField(choices=Membership.Role.choices, required=False)
    left = serializers.BooleanField(
        required=False, help_text="true: they leave the project; false: they come back."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Exactly one thing changes."""
        if len(attrs) != 1:
            raise serializers.ValidationError(_("Send one of these: role, left."))
        return attrs


class Members(Resource):
    """Who is in a project."""

    tag = "Members"

    @reads(MemberSerializer, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List who is, or was, in a project."""
        member = access.member(self.person, slug)
        return self.page(member.project.memberships.all(), _told_all)


class OneMember(Resource):
    """One member of a project."""

    tag = "Members"

    @reads(MemberSerializer)
    def get(self, request: Request, slug: str, member: int) -> Response:
        """Read who a member is."""
        found = access.fellow(access.member(self.person, slug), member)
        return Response(MemberSerializer(found).data)

    @writes(MemberSerializer, sent=SentChange, scope=Scope.LEAD)
    def patch(self, request: Request, slug: str, member: int) -> Response:
        """Make a member annotator or lead, let them go, or take them back in."""
        by = access.lead(self.person, slug)
        found = access.fellow(by, member)
        sent = self.sent()
        if "role" in sent:
            actions.change_role(member=found, role=sent["role"], by=by)
        elif sent["left"]:
            actions.remove_member(member=found, by=by)
        elif found.left_at is not None and found.user is not None:
            actions.add_member(username=found.user.username, role=found.role, by=by)
        return Response(MemberSerializer(access.fellow(by, member)).data)


def _told_all(members: list[Membership]) -> list[dict[str, Any]]:
    return list(MemberSerializer(members, many=True).data)
