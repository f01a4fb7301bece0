"""Browsers from which an account has signed in before, recognized by a signed cookie."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core import signing
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.crypto import get_random_string

from base.users import User

COOKIE = "known_browser"
# The cookie is sent with sign-in forms only.
PATH = "/accounts/"
SALT = "config.known_browsers"
DAYS = 90
# How many accounts, the latest ones, one browser is known to.
MAX_ACCOUNTS = 10


def remember_browser(request: HttpRequest, response: HttpResponseBase, user: User) -> None:
    """Set the cookie by which the account will recognize this browser."""
    browser, accounts = _read_cookie(request)
    accounts = [*(one for one in accounts if one != user.pk), user.pk][-MAX_ACCOUNTS:]
    response.set_cookie(
        COOKIE,
        signing.dumps([browser or get_random_string(22), accounts], salt=SALT),
        max_age=DAYS * 86_400,
        path=PATH,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def browser_known_to(request: HttpRequest, user: User) -> str | None:
    """Return the browser's id if the account has signed in from it, else None."""
    browser, accounts = _read_cookie(request)
    return browser if user.pk in accounts else None


def _read_cookie(request: HttpRequest) -> tuple[str, list[int]]:
    """Return the browser's id and the accounts that know it; empty if the cookie is not valid."""
    try:
        content: Any = signing.loads(
            request.COOKIES.get(COOKIE, ""), salt=SALT, max_age=DAYS * 86_400
        )
    except signing.BadSignature:
        return "", []
    return content[0], content[1]
