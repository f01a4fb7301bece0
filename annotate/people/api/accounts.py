"""Accounts of the installation, and links for new accounts; administrators only.

Links for new passwords and resetting second factors are only on pages: no program can do that.
"""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.people import access, accounts
from annotate.people.api.members import (
    LinkSerializer,
    NewLinkSerializer,
    SentLink,
    link_response,
)
from annotate.people.invitations import invite_to_installation, withdraw
from annotate.people.models import Invitation
from base.api.resource import (
    QueryParameters,
    RequestBody,
    Resource,
    Scope,
    reads,
    writes,
)
from base.users import User


class AccountSerializer(serializers.Serializer[Any]):
    """An account of the installation."""

    id = serializers.IntegerField()
    username = serializers.CharField()
    email = serializers.CharField()
    is_active = serializers.BooleanField(help_text="Whether its person can sign in.")
    projects = serializers.IntegerField(help_text="The number of their projects.")


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
        access.admin(self.person)
        return self.page(accounts.find_accounts(**self.parameters()))


class Account(Resource, tag="Accounts"):
    """One account; administrators only."""

    @writes(AccountSerializer, body=SentAccount, scope=Scope.LEAD)
    def patch(self, request: Request, account: int) -> User:
        """Close or reopen an account. The person's judgments are kept."""
        user = access.account(self.person, account)
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
        accounts.sign_out(user=access.account(self.person, account), by=self.person)


class AccountInvitations(Resource, tag="Accounts"):
    """Invitation links for new accounts without a project."""

    @reads(LinkSerializer, paged=True)
    def get(self, request: Request) -> Response:
        """List the links that can still be used. Their addresses are not stored."""
        access.admin(self.person)
        rows = Invitation.objects.open().filter(project=None).select_related("created_by")
        return self.page(rows)

    @writes(NewLinkSerializer, body=SentLink, status=201, scope=Scope.LEAD, secret=("url",))
    def post(self, request: Request) -> Response:
        """Make a link for one new account, and mail it if an address is given."""
        by = access.admin(self.person)
        sent = self.body()
        link = invite_to_installation(name=sent.pop("username"), **sent, by=by)
        return link_response(request, link, LinkSerializer(link.invitation).data)


class OneAccountInvitation(Resource, tag="Accounts"):
    """One invitation link for a new account."""

    @writes(None, status=204, scope=Scope.LEAD)
    def delete(self, request: Request, invitation: int) -> None:
        """Withdraw a link. Withdrawing twice changes nothing; 409 if it has been used."""
        withdrawn = access.account_invitation(self.person, invitation)
        withdraw(invitation=withdrawn, by=self.person)
