"""People in the API: the sender, members, invitations, and the accounts of the installation."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.people import access as people_access
from annotate.people import accounts
from annotate.people import members as actions
from annotate.people.forms import MemberForm
from annotate.people.invitation_mail import deliver_link, deliver_links
from annotate.people.invitations import (
    DAYS,
    MOST,
    Invitee,
    Link,
    invite,
    invite_several,
    invite_to_installation,
    withdraw,
)
from annotate.people.models import Invitation, Token
from annotate.people.preferences import change_preferences
from annotate.projects import access
from annotate.projects.models import Membership
from base.api.bodies import FormBody
from base.api.resource import QueryParameters, RequestBody, Resource, Scope, reads, writes
from base.keymap import keys_for
from base.reader_preferences import preferences
from base.users import Preferences, User


class MeSerializer(serializers.Serializer[Any]):
    """The person who sends the request, and their token."""

    username = serializers.CharField()
    token = serializers.CharField(
        allow_null=True, help_text="The name of the token; null: signed in on the pages."
    )
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=Scope.choices))
    expires_at = serializers.DateTimeField(allow_null=True)


class PreferencesSerializer(RequestBody):
    """A person's preferences."""

    keys = serializers.DictField(
        child=serializers.CharField(max_length=40), help_text="The key of each action of the pages."
    )
    theme = serializers.ChoiceField(choices=["", *Preferences.Theme.values], allow_blank=True)
    time_zone = serializers.CharField(
        max_length=64,
        allow_blank=True,
        help_text="A name of the IANA database; empty: the browser’s.",
    )
    mail_digest = serializers.BooleanField(
        help_text="Whether new notices are mailed to you, at most once a day."
    )
    wants_tour = serializers.BooleanField(
        help_text="Whether the home page offers you the tour of the pages."
    )


class SentNaming(RequestBody):
    """Whether you agree to be named."""

    named = serializers.BooleanField()


class NamingSerializer(serializers.Serializer[Any]):
    """Whether and since when you agree to be named in what the project publishes."""

    named = serializers.SerializerMethodField()
    named_at = serializers.DateTimeField(allow_null=True)

    def get_named(self, member: Any) -> bool:
        """Return whether you agree to be named."""
        return member.named_at is not None


class Me(Resource, tag="You"):
    """The person who sends the request."""

    @reads(MeSerializer)
    def get(self, request: Request) -> dict[str, Any]:
        """Return who you are, and the scopes of your token."""
        token = request.auth if isinstance(request.auth, Token) else None
        return {
            "username": self.person.get_username(),
            "token": token.name if token else None,
            "scopes": token.scopes if token else Scope.values,
            "expires_at": token.expires_at if token else None,
        }


class MyPreferences(Resource, tag="You"):
    """Your preferences."""

    @reads(PreferencesSerializer)
    def get(self, request: Request) -> dict[str, Any]:
        """Return your preferences."""
        return self._chosen()

    @writes(PreferencesSerializer, body=PreferencesSerializer, scope=Scope.JUDGE)
    def patch(self, request: Request) -> dict[str, Any]:
        """Change your preferences."""
        self.person.preferences = change_preferences(**self.body(), by=self.person)
        return self._chosen()

    def _chosen(self) -> dict[str, Any]:
        chosen = preferences(self.person)
        named = ("theme", "time_zone", "mail_digest", "wants_tour")
        return {"keys": keys_for(self.person), **{name: getattr(chosen, name) for name in named}}


class MyNaming(Resource, tag="You"):
    """Whether you agree to be named in what a project publishes."""

    @reads(NamingSerializer)
    def get(self, request: Request, slug: str) -> Membership:
        """Return whether you agreed."""
        return access.past_or_present_member(self.person, slug)

    @writes(NamingSerializer, body=SentNaming, scope=Scope.JUDGE)
    def put(self, request: Request, slug: str) -> Membership:
        """Agree, or withdraw your agreement."""
        member = access.past_or_present_member(self.person, slug)
        return actions.set_named(named=self.body()["named"], by=member)


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
        """Make a link that lets one person join, and mail it if an address is given. An earlier
        link for the same user name is withdrawn.
        """
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


class SentRole(RequestBody):
    """A project that you lead, and the role in it."""

    project = serializers.SlugField(max_length=80)
    role = serializers.ChoiceField(
        choices=Membership.Role.choices, default=Membership.Role.ANNOTATOR.value
    )


class SentPerson(SentInvitee):
    """One of several people to invite: a user name, a mail address, or both."""

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require a name or an address."""
        if not attrs["username"].strip() and not attrs["email"]:
            raise serializers.ValidationError("Give a user name or a mail address.")
        return attrs


class SentInvitations(RequestBody):
    """People to invite to this project and to others."""

    people = serializers.ListField(child=SentPerson(), min_length=1, max_length=MOST)
    role = serializers.ChoiceField(
        choices=Membership.Role.choices, default=Membership.Role.ANNOTATOR.value
    )
    other_projects = serializers.ListField(
        child=SentRole(),
        max_length=MOST,
        default=list,
        help_text="Other projects that the same links lead to.",
    )
    days = serializers.IntegerField(min_value=DAYS.start, max_value=DAYS.stop - 1, default=7)


class InvitedSerializer(serializers.Serializer[Any]):
    """The result for one person: an account was added at once, or a link was made."""

    username = serializers.CharField()
    email = serializers.CharField()
    projects = serializers.ListField(
        child=serializers.CharField(), help_text="Short names of the projects they are added to."
    )
    link = NewLinkSerializer(allow_null=True, help_text="null: the account was added at once.")


class InvitedPeopleSerializer(serializers.Serializer[Any]):
    """The result for each person, in the order of the request."""

    people = InvitedSerializer(
        many=True,
        help_text="null if the request is sent again with the same key: links are not stored.",
    )


class SeveralInvitations(Resource, tag="Members"):
    """Inviting several people at once."""

    @writes(
        InvitedPeopleSerializer,
        body=SentInvitations,
        status=201,
        scope=Scope.LEAD,
        secret=("people",),
    )
    def post(self, request: Request, slug: str) -> Response:
        """Invite people to this project and to others that you lead: all of them, or none. A person
        with an account of the name is added at once; anybody else gets one link for all projects.
        Line numbers in errors are positions in `people`, from 1.
        """
        by = access.lead(self.person, slug)
        sent = self.body()
        roles = {by: sent["role"]}
        for other in sent["other_projects"]:
            roles.setdefault(access.lead(self.person, other["project"]), other["role"])
        people = [Invitee(person["username"].strip(), person["email"]) for person in sent["people"]]
        results = invite_several(
            people=dict(enumerate(people, start=1)), roles=roles, days=sent["days"]
        )
        invited = [
            {
                "username": result.invitee.name,
                "email": result.invitee.email,
                "projects": [project.slug for project in result.projects],
                "link": {**LinkSerializer(result.link.invitation).data, **delivery._asdict()}
                if result.link and delivery
                else None,
            }
            for result, delivery in deliver_links(request, results)
        ]
        return Response({"people": invited}, status=201, headers={"Cache-Control": "no-store"})


class AccountSerializer(serializers.ModelSerializer[User]):
    """An account of the installation."""

    email = serializers.CharField()
    projects = serializers.IntegerField(help_text="The number of their projects.")

    class Meta:
        model = User
        fields = ("id", "username", "email", "is_active", "projects")
        read_only_fields = fields


class AskedAccounts(QueryParameters):
    """A filter of accounts."""

    search = serializers.CharField(
        required=False, max_length=200, help_text="Part of the name or the address."
    )
    closed = serializers.BooleanField(default=False, help_text="Only closed ones.")


class SentAccount(RequestBody):
    """A change of an account."""

    is_active = serializers.BooleanField(
        help_text="false: the account is closed and signed out everywhere, and its tokens end."
    )


class Accounts(Resource, tag="Accounts"):
    """The accounts of the installation; administrators only."""

    @reads(AccountSerializer, parameters=AskedAccounts, paged=True)
    def get(self, request: Request) -> Response:
        """List the accounts."""
        people_access.admin(self.person)
        return self.page(accounts.find_accounts(**self.parameters()))


class Account(Resource, tag="Accounts"):
    """One account; administrators only."""

    @writes(AccountSerializer, body=SentAccount, scope=Scope.LEAD)
    def patch(self, request: Request, account: int) -> User:
        """Close or reopen an account. The person's judgments are kept."""
        user = people_access.account(self.person, account)
        sent = self.body()
        if "is_active" in sent:
            change = accounts.reactivate if sent["is_active"] else accounts.deactivate
            change(user=user, by=self.person)
        return accounts.find_accounts().get(pk=user.pk)


class AccountSessions(Resource, tag="Accounts"):
    """The sessions of one account."""

    @writes(None, status=204, scope=Scope.LEAD)
    def delete(self, request: Request, account: int) -> None:
        """Sign an account out everywhere. Its tokens stay valid."""
        accounts.sign_out(user=people_access.account(self.person, account), by=self.person)


class AccountInvitations(Resource, tag="Accounts"):
    """Invitation links for new accounts without a project."""

    @reads(LinkSerializer, paged=True)
    def get(self, request: Request) -> Response:
        """List the links that can still be used. Their addresses are not stored."""
        people_access.admin(self.person)
        rows = Invitation.objects.open().filter(project=None).select_related("created_by")
        return self.page(rows)

    @writes(NewLinkSerializer, body=SentLink, status=201, scope=Scope.LEAD, secret=("url",))
    def post(self, request: Request) -> Response:
        """Make a link for one new account, and mail it if an address is given."""
        by = people_access.admin(self.person)
        sent = self.body()
        link = invite_to_installation(name=sent.pop("username"), **sent, by=by)
        return link_response(request, link, LinkSerializer(link.invitation).data)


class OneAccountInvitation(Resource, tag="Accounts"):
    """One invitation link for a new account."""

    @writes(None, status=204, scope=Scope.LEAD)
    def delete(self, request: Request, invitation: int) -> None:
        """Withdraw a link. Withdrawing twice changes nothing; 409 if it has been used."""
        withdrawn = people_access.account_invitation(self.person, invitation)
        withdraw(invitation=withdrawn, by=self.person)
