"""API tokens: make, end and look up; token authentication of the API."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import transaction
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from annotate.people.models import Token
from annotate.projects.audit_log import record
from base.errors import ObjectNotFound, Refused, refuse_invalid_names
from base.users import Scope, User

# Every token begins with it, so that scanners for leaked secrets recognize tokens.
PREFIX = "rejudge_"
# The maximum number of valid tokens per person.
MOST = 50
MOST_DAYS = 366
# The precision of the last use, so that not every request writes it.
HOUR = timedelta(hours=1)


class NewToken(NamedTuple):
    """A new token, and the secret that a program sends; the secret is not stored."""

    token: Token
    secret: str


def make_token(
    *, name: str, scopes: Collection[str], days: int, by: User, now: datetime | None = None
) -> NewToken:
    """Make a token of `by` with these scopes (`Scope`; reading is always included) and lifetime.

    Refused: a missing or too long name, an unknown scope, fewer than 1 or more than MOST_DAYS days,
    more than MOST valid tokens.
    """
    now = now or timezone.now()
    name = name.strip()
    if not name:
        raise Refused("Give the token a name, so that you know later what it is for.")
    if len(name) > 100:
        raise Refused("A name has at most 100 characters.")
    refuse_invalid_names(name)
    if unknown := set(scopes) - set(Scope.values):
        raise Refused(f"“{min(unknown)[:40]}” is not a scope.")
    if not 1 <= days <= MOST_DAYS:
        raise Refused(f"A token can be valid for 1 to {MOST_DAYS} days.")
    secret = PREFIX + secrets.token_urlsafe(32)
    with transaction.atomic():
        # Locked, so that two simultaneous requests cannot exceed the limit.
        person = User.objects.select_for_update().get(pk=by.pk)
        if person.tokens.valid(now).count() >= MOST:
            raise Refused(f"You have {MOST} tokens. End those that you no longer need.")
        token = Token.objects.create(
            user=person,
            name=name,
            start=secret[:12],
            digest=_digest(secret),
            may_judge=Scope.JUDGE in scopes,
            may_lead=Scope.LEAD in scopes,
            made_at=now,
            expires_at=now + timedelta(days=days),
        )
        record(project=None, what="token.made", about=token, named=name, by=by, now=now)
    return NewToken(token, secret)


def end_token(*, pk: int, by: User, now: datetime | None = None) -> Token:
    """End one of `by`'s tokens at once. Ending twice changes nothing.

    Raises ObjectNotFound if the token is not theirs.
    """
    now = now or timezone.now()
    with transaction.atomic():
        token = Token.objects.select_for_update().filter(pk=pk, user=by).first()
        if token is None:
            raise ObjectNotFound("You have no such token.")
        if token.ended_at is None:
            token.ended_at = now
            token.save(update_fields=["ended_at"])
            record(project=None, what="token.ended", about=token, named=token.name, by=by, now=now)
    return token


def find_valid_token(secret: str, *, now: datetime | None = None) -> Token | None:
    """Return the valid token with this secret, with its owner, or None.

    Records, to the hour, that the token was used.
    """
    now = now or timezone.now()
    valid = Token.objects.valid(now).select_related("user")
    token = valid.filter(digest=_digest(secret)).first()
    if token and (token.last_used_at is None or token.last_used_at <= now - HOUR):
        Token.objects.filter(pk=token.pk).update(last_used_at=now)
    return token


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="surrogateescape")).hexdigest()


WORD = "Bearer"


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer rejudge_...`"""

    def authenticate(self, request: Request) -> tuple[User, Token] | None:
        """Return the person and their token, or None without such a header.

        Raises AuthenticationFailed if the header has no valid token.
        """
        word, _space, secret = request.headers.get("Authorization", "").strip().partition(" ")
        if word.lower() != WORD.lower():
            return None
        token = find_valid_token(secret.strip())
        if token is None:
            raise AuthenticationFailed("This token is unknown, ended or expired.")
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        """Return the value of the WWW-Authenticate header."""
        return WORD
