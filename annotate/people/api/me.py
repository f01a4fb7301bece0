"""The person who sends the request: their token, preferences and consent to be named."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request

from annotate.people.models import Token
from annotate.people.naming import set_named
from annotate.people.preferences import change_preferences
from annotate.projects.access import member
from annotate.projects.models import Membership
from base.api.resource import RequestBody, Resource, Scope, reads, writes
from base.keymap import keys_for
from base.reader_preferences import preferences
from base.users import Preferences


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
        named = ("theme", "time_zone", "mail_digest")
        return {"keys": keys_for(self.person), **{name: getattr(chosen, name) for name in named}}


class MyNaming(Resource, tag="You"):
    """Whether you agree to be named in what a project publishes."""

    @reads(NamingSerializer)
    def get(self, request: Request, slug: str) -> Membership:
        """Return whether you agreed."""
        return member(self.person, slug)

    @writes(NamingSerializer, body=SentNaming, scope=Scope.JUDGE)
    def put(self, request: Request, slug: str) -> Membership:
        """Agree, or withdraw your agreement."""
        return set_named(by=member(self.person, slug), named=self.body()["named"])
