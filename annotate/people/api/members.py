"""Who is in a project, and as what."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.people import access as people_access
from annotate.people import members as actions
from annotate.people.invitation_mail import hand_over
from annotate.people.invitations import DAYS, Link, invite, withdraw
from annotate.people.models import Invitation
from annotate.projects import access
from annotate.projects.models import Membership
from base.api.resource import Resource, Scope, Sent, done, reads, writes


class MemberSerializer(serializers.ModelSerializer[Membership]):
    """Someone who works, or worked, in a project: a person, a name from a file, or a machine."""

    class Meta:
        model = Membership
        fields = ("id", "name", "role", "is_machine", "joined_at", "left_at")
        read_only_fields = fields


class ChangedMemberSerializer(serializers.ModelSerializer[Membership]):
    """A member as a lead has changed them."""

    class Meta:
        model = Membership
        fields = (*MemberSerializer.Meta.fields, "most_tasks")
        read_only_fields = fields


class SentChange(Sent):
    """What shall change of a member: one of these."""

    role = serializers.ChoiceField(choices=Membership.Role.choices, required=False)
    left = serializers.BooleanField(
        required=False, help_text="true: they leave the project; false: they come back."
    )
    most_tasks = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=0,
        max_value=actions.QUOTAS.stop - 1,
        help_text="They are given at most so many tasks; null: any number.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Exactly one thing changes."""
        if len(attrs) != 1:
            raise serializers.ValidationError(_("Send one of these: role, left, most_tasks."))
        return attrs


class SentMember(Sent):
    """Somebody who has an account here."""

    username = serializers.CharField(max_length=150)
    role = serializers.ChoiceField(
        choices=Membership.Role.choices, default=Membership.Role.ANNOTATOR.value
    )


class LinkSerializer(serializers.Serializer[Any]):
    """A link that lets one person have an account."""

    id = serializers.IntegerField()
    username = serializers.CharField(help_text="Empty: they choose.")
    email = serializers.CharField(help_text="Where it was mailed to; empty: nowhere.")
    made_by = serializers.CharField()
    expires_at = serializers.DateTimeField()


class InvitationSerializer(LinkSerializer):
    """A link that lets one person into a project."""

    role = serializers.ChoiceField(choices=Membership.Role.choices)


class NewLinkSerializer(LinkSerializer):
    """A link that was just made."""

    url = serializers.CharField(help_text="The link. It is told this once, and kept nowhere.")
    mailed = serializers.BooleanField(
        allow_null=True,
        help_text="null: no address was given, or no server for mail is set; false: it could not "
        "be sent.",
    )


class NewInvitationSerializer(NewLinkSerializer, InvitationSerializer):
    """A link into a project that was just made."""


class SentLink(Sent):
    """Whom a link shall let in."""

    username = serializers.CharField(
        max_length=150,
        required=False,
        allow_blank=True,
        default="",
        help_text="Whoever comes has this name; left out: they choose.",
    )
    email = serializers.EmailField(required=False, allow_blank=True, default="")
    days = serializers.IntegerField(min_value=DAYS.start, max_value=DAYS.stop - 1, default=7)


class SentInvitation(SentLink):
    """Whom a link shall let into a project, and as what."""

    role = serializers.ChoiceField(
        choices=Membership.Role.choices, default=Membership.Role.ANNOTATOR.value
    )


class Members(Resource):
    """Who is in a project."""

    tag = "Members"

    @reads(MemberSerializer, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List who is, or was, in a project."""
        member = access.member(self.person, slug)
        return self.page(member.project.memberships.all(), _all_as_json)

    @writes(MemberSerializer, sent=SentMember, status=201, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> Response:
        """Let somebody in who has an account; for others make an invitation."""
        by = access.lead(self.person, slug)
        member = actions.add_member(**self.sent(), by=by)
        return Response(MemberSerializer(member).data, status=201)


class OneMember(Resource):
    """One member of a project."""

    tag = "Members"

    @reads(MemberSerializer)
    def get(self, request: Request, slug: str, member: int) -> Response:
        """Read who a member is."""
        found = access.fellow(access.member(self.person, slug), member)
        return Response(MemberSerializer(found).data)

    @writes(ChangedMemberSerializer, sent=SentChange, scope=Scope.LEAD)
    def patch(self, request: Request, slug: str, member: int) -> Response:
        """Make a member annotator or lead, let them go, take them back in, or limit their tasks."""
        by = access.lead(self.person, slug)
        found = access.fellow(by, member)
        sent = self.sent()
        if "role" in sent:
            actions.change_role(member=found, role=sent["role"], by=by)
        elif "most_tasks" in sent:
            actions.set_quota(member=found, most_tasks=sent["most_tasks"], by=by)
        elif sent["left"]:
            actions.remove_member(member=found, by=by)
        elif found.left_at is not None and found.user is not None:
            actions.add_member(username=found.user.username, role=found.role, by=by)
        return Response(ChangedMemberSerializer(access.fellow(by, member)).data)


class Invitations(Resource):
    """The links that let people into a project."""

    tag = "Members"

    @reads(InvitationSerializer, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List the links that still let somebody in. The links themselves are kept nowhere."""
        by = access.lead(self.person, slug)
        rows = by.project.invitations.open().select_related("created_by")
        return self.page(rows, lambda part: [_invitation(row) for row in part])

    @writes(
        NewInvitationSerializer, sent=SentInvitation, status=201, scope=Scope.LEAD, secret=("url",)
    )
    def post(self, request: Request, slug: str) -> Response:
        """Make a link that lets one person in, and mail it if an address is given."""
        by = access.lead(self.person, slug)
        sent = self.sent()
        link = invite(name=sent.pop("username"), **sent, by=by)
        return handed_over(request, link, _invitation(link.invitation))


class OneInvitation(Resource):
    """One link that lets somebody into a project."""

    tag = "Members"

    @writes(None, status=204, scope=Scope.LEAD)
    def delete(self, request: Request, slug: str, invitation: int) -> Response:
        """Take a link back. Twice changes nothing; 409 if somebody has come in by it."""
        by = access.lead(self.person, slug)
        withdraw(invitation=people_access.invitation(by, invitation), by=self.person)
        return done()


def handed_over(request: Request, link: Link, told: dict[str, Any]) -> Response:
    """The answer to who made a link: what is told of it, and the link itself, this once."""
    handed = hand_over(request, link)
    answer = {**told, **handed._asdict()}
    return Response(answer, status=201, headers={"Cache-Control": "no-store"})


def _invitation(row: Invitation) -> dict[str, Any]:
    return {**link_told(row), "role": row.role}


def link_told(row: Invitation) -> dict[str, Any]:
    """What is told of a link, wherever it leads."""
    return {
        "id": row.pk,
        "username": row.name,
        "email": row.email,
        "made_by": row.created_by.username,
        "expires_at": row.expires_at,
    }


def _all_as_json(members: list[Membership]) -> list[dict[str, Any]]:
    return list(MemberSerializer(members, many=True).data)
