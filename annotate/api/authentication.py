"""Who a program is: a token in a header. Pages' own scripts come with the session instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from annotate.actions.tokens import token_of
from annotate.models.project import User
from annotate.models.token import Token

if TYPE_CHECKING:
    # Reading it would ask for this module, which the settings name.
    from rest_framework.views import APIView

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


class HasScope(BasePermission):
    """Whether the token is good for what is asked; who comes with a session has every scope."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Ask the method of the resource for its scope; a method it does not have is let through
        to be told so.
        """
        if not isinstance(request.auth, Token):
            return True
        handler = getattr(view, (request.method or "").lower(), None)
        operation = getattr(handler, "operation", None)
        if operation is None or operation.scope in request.auth.scopes:
            return True
        self.message = _("This token may not do that: it lacks the scope “%(scope)s”.") % {
            "scope": operation.scope
        }
        return False
