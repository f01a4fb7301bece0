"""Who a program is: a token in a header. Pages' own scripts come with the session instead."""

from __future__ import annotations

from django.utils.translation import gettext as _
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from annotate.people.models import Token
from annotate.people.tokens import token_of
from base.users import User

WORD = "Bearer"


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer rejudge_...`"""

    def authenticate(self, request: Request) -> tuple[User, Token] | None:
        """The person and their token; None where there is no such header. Raises where what it
        holds is no token, or one no longer.
        """
        word, _space, secret = request.headers.get("Authorization", "").strip().partition(" ")
        if word.lower() != WORD.lower():
            return None
        token = token_of(secret.strip())
        if token is None:
            raise AuthenticationFailed(_("This token is unknown, was ended, or has run out."))
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        """What a program that did not say who it is should send."""
        return WORD
