"""What leads and administrators did, and the accounts of an installation."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Q
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate import access
from annotate.actions import people
from annotate.api.frame import Asked, Resource, Scope, Sent, reads, writes, wrong
from annotate.forms.trail import TrailForm
from annotate.models import Deed, User
from annotate.screens.trail import deeds


class DeedSerializer(serializers.Serializer[Any]):
    """One thing that somebody did who leads a project."""

    uuid = serializers.UUIDField()
    at = serializers.DateTimeField()
    who = serializers.CharField(help_text="As they were called then; empty: a command.")
    what = serializers.CharField()
    about = serializers.CharField(help_text="What it was done to, as it was called then.")
    kind = serializers.CharField(help_text="Which kind of row that is ...")
    key = serializers.IntegerField(allow_null=True, help_text="... and which one.")
    words = serializers.CharField()
    changes = serializers.DictField(help_text="By name: what was before, and what is now.")


class AskedTrail(Asked):
    """Which deeds."""

    who = serializers.CharField(
        required=False, max_length=20, help_text="The key of a user, or: command."
    )
    what = serializers.CharField(required=False, max_length=40)
    since = serializers.DateField(required=False, help_text="From this day on, where you are.")
    until = serializers.DateField(required=False, help_text="Up to this day.")


class AccountSerializer(serializers.Serializer[Any]):
    """An account of the installation."""

    id = serializers.IntegerField()
    username = serializers.CharField()
    email = serializers.CharField()
    is_active = serializers.BooleanField(help_text="Whether its person can sign in.")
    projects = serializers.IntegerField(help_text="How many they are in.")


class AskedAccounts(Asked):
    """Which accounts."""

    search = serializers.CharField(
        required=False, max_length=200, help_text="Part of the name or the address."
    )
    closed = serializers.BooleanField(default=False, help_text="Only closed ones.")


class SentAccount(Sent):
    """What shall become of an account."""

    is_active = serializers.BooleanField(
        help_text="false: it is closed and signed out everywhere, and its tokens end."
    )


class Trail(Resource):
    """What leads and administrators did in a project."""

    tag = "Trail"

    @reads(DeedSerializer, asked=AskedTrail, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List what was done, newest first, as far as you may know now."""
        by = access.lead(self.person, slug)
        self.asked()
        form = TrailForm(by, request.query_params)
        if not form.is_valid():
            raise wrong(form, "?")
        found = deeds(by, form.kinds, form.asked())
        return self.page(found, lambda rows: [_deed(row) for row in rows], newest_first=True)


class Accounts(Resource):
    """The accounts of the installation, for who runs it."""

    tag = "Accounts"

    @reads(AccountSerializer, asked=AskedAccounts, paged=True)
    def get(self, request: Request) -> Response:
        """List the accounts."""
        access.admin(self.person)
        asked = self.asked()
        found = User.objects.all()
        if search := asked.get("search"):
            found = found.filter(Q(username__icontains=search) | Q(email__icontains=search))
        if asked["closed"]:
            found = found.filter(is_active=False)
        return self.page(_counted(found), lambda rows: [_account(row) for row in rows])


class Account(Resource):
    """One account of the installation, for who runs it."""

    tag = "Accounts"

    @writes(AccountSerializer, sent=SentAccount, scope=Scope.LEAD)
    def patch(self, request: Request, account: int) -> Response:
        """Close an account, or open it again. What its person said stays."""
        found = access.account(self.person, account)
        change = people.reactivate if self.sent()["is_active"] else people.deactivate
        change(user=found, by=self.person)
        return Response(_account(_counted(User.objects.filter(pk=found.pk)).get()))


class AccountSessions(Resource):
    """Where one account is signed in."""

    tag = "Accounts"

    @writes(None, status=204, scope=Scope.LEAD)
    def delete(self, request: Request, account: int) -> Response:
        """Sign an account out everywhere. Its tokens stay."""
        people.sign_out(user=access.account(self.person, account), by=self.person)
        return Response(status=204)


def _counted(found: Any) -> Any:
    return found.annotate(
        projects=Count("memberships", filter=Q(memberships__left_at__isnull=True))
    )


def _deed(row: Deed) -> dict[str, Any]:
    return {
        "uuid": row.uuid,
        "at": row.at,
        "who": row.name,
        "what": row.what,
        "about": row.about,
        "kind": row.kind,
        "key": row.key,
        "words": row.words,
        "changes": row.changes,
    }


def _account(row: Any) -> dict[str, Any]:
    return {
        "id": row.pk,
        "username": row.username,
        "email": row.email,
        "is_active": row.is_active,
        "projects": row.projects,
    }
