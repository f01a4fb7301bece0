"""Members of a project and invitations to it in the API."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.people import access as people_access
from annotate.people import members as actions
from annotate.people.forms.people import MemberForm
from annotate.people.invitation_mail import deliver_link
from annotate.people.invitations import DAYS, Link, invite, withdraw
from annotate.projects import access
from annotate.projects.models import Membership
from base.api.bodies import FormBody
from base.api.resource import RequestBody, Resource, Scope, reads, writes


class MemberSerializer(serializers.ModelSerializer[Membership]):
    """A current or former member of a project: a person, a name from a file, or a machine."""

    class Meta:
        model = Membership
        fields = ("id", "name", "role", "is_machine", "joined_at", "left_at")
        read_only_fields = fields


class ChangedMemberSerializer(serializers.ModelSerializer[Membership]):
    """A member after a change by a lead."""

    class Meta:
        model = Membership
        fields = (*MemberSerializer.Meta.fields, "most_tasks")
        read_only_fields = fields


class SentChange(RequestBody):
    """A change of a member: exactly one of these fields."""

    role = serializers.ChoiceField(choices=Membership.Role.choices, required=False)
    left = serializers.BooleanField(
        required=False, help_text="true: they leave the project; false: they come back."
    )
    most_tasks = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=0,
        max_value=actions.QUOTAS.stop - 1,
        help_text="The maximum number of their tasks; null: no limit.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require exactly one field."""
        if len(attrs) != 1:
            raise serializers.ValidationError("Send one of these: role, left, most_tasks.")
        return attrs


class SentMember(RequestBody):
    """An account to add to a project."""

    username = serializers.CharField(max_length=150)
    role = serializers.ChoiceField(
        choices=Membership.Role.choices, default=Membership.Role.ANNOTATOR.value
    )


class LinkSerializer(serializers.Serializer[Any]):
    """A link that lets one person create an account."""

    id = serializers.IntegerField()
    username = serializers.CharField(source="name", help_text="Empty: they choose.")
    email = serializers.CharField(help_text="The address it was mailed to, if any.")
    made_by = serializers.CharField(source="created_by.username")
    expires_at = serializers.DateTimeField()


class InvitationSerializer(LinkSerializer):
    """A link that lets one person join a project."""

    role = serializers.ChoiceField(choices=Membership.Role.choices)


class NewLinkSerializer(LinkSerializer):
    """A new link."""

    url = serializers.CharField(help_text="The link. It is returned only once and not stored.")
    mailed = serializers.BooleanField(
        allow_null=True,
        help_text="null: no address was given, or no mail server is set up; false: it could not "
        "be sent.",
    )


class NewInvitationSerializer(NewLinkSerializer, InvitationSerializer):
    """A new link to a project."""


class SentInvitee(FormBody):
    """A person to invite: a user name, a mail address, or both."""

    class Meta:
        form = MemberForm
        fields: tuple[str, ...] = ("username", "email")


class SentLink(SentInvitee):
    """An invitation link to create."""

    days = serializers.IntegerField(min_value=DAYS.start, max_value=DAYS.stop - 1, default=7)


class SentInvitation(SentLink):
    """An invitation link to a project to create."""

    class Meta:
        form = MemberForm
        fields = (*SentInvitee.Meta.fields, "role")


class Members(Resource, tag="Members"):
    """The members of a project."""

    @reads(MemberSerializer, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List current and former members."""
        member = access.member(self.person, slug)
        return self.page(member.project.memberships.all())

    @writes(MemberSerializer, body=SentMember, status=201, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> Membership:
        """Add a person who has an account; for others make an invitation."""
        by = access.lead(self.person, slug)
        return actions.add_member(**self.body(), by=by)


class OneMember(Resource, tag="Members"):
    """One member of a project."""

    @reads(MemberSerializer)
    def get(self, request: Request, slug: str, member: int) -> Membership:
        """Return a member."""
        return access.member_of_project(access.member(self.person, slug), member)

    @writes(ChangedMemberSerializer, body=SentChange, scope=Scope.LEAD)
    def patch(self, request: Request, slug: str, member: int) -> Membership:
        """Change a member's role, remove them, add them again, or limit their tasks."""
        by = access.lead(self.person, slug)
        membership = access.member_of_project(by, member)
        sent = self.body()
        if "role" in sent:
            actions.change_role(member=membership, role=sent["role"], by=by)
        elif "most_tasks" in sent:
            actions.set_quota(member=membership, most_tasks=sent["most_tasks"], by=by)
        elif sent["left"]:
            actions.remove_member(member=membership, by=by)
        elif membership.left_at is not None and membership.user is not None:
            actions.add_member(username=membership.user.username, role=membership.role, by=by)
        return access.member_of_project(by, member)


class Invitations(Resource, tag="Members"):
    """The invitation links to a project."""

    @reads(InvitationSerializer, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List the links that can still be used. Their addresses are not stored."""
        by = access.lead(self.person, slug)
        rows = by.project.invitations.open().select_related("created_by")
        return self.page(rows)

    @writes(
        NewInvitationSerializer, body=SentInvitation, status=201, scope=Scope.LEAD, secret=("url",)
    )
    def post(self, request: Request, slug: str) -> Response:
        """Make a link that lets one person join, and mail it if an address is given."""
        by = access.lead(self.person, slug)
        sent = self.body()
        link = invite(name=sent.pop("username"), **sent, by=by)
        return link_response(request, link, InvitationSerializer(link.invitation).data)


class OneInvitation(Resource, tag="Members"):
    """One invitation link to a project."""

    @writes(None, status=204, scope=Scope.LEAD)
    def delete(self, request: Request, slug: str, invitation: int) -> None:
        """Withdraw a link. Withdrawing twice changes nothing; 409 if it has been used."""
        by = access.lead(self.person, slug)
        withdraw(invitation=people_access.invitation(by, invitation), by=self.person)


def link_response(request: Request, link: Link, link_data: dict[str, Any]) -> Response:
    """Return the response to making a link: its fields, and this once the link itself."""
    handed = deliver_link(request, link)
    answer = {**link_data, **handed._asdict()}
    return Response(answer, status=201, headers={"Cache-Control": "no-store"})
