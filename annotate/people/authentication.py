"""Token authentication of the API. The pages' own scripts use the session instead."""

from __future__ import annotations

from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from annotate.people.models import Token
from annotate.people.tokens import find_valid_token
from base.users import User

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
