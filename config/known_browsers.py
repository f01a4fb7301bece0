"""Browsers from which an account has signed in before: a signed cookie says so."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core import signing
from django.db.models import Q
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.crypto import get_random_string

from base.users import User

COOKIE = "known_browser"
# Sent with forms of signing in only.
PATH = "/accounts/"
SALT = "config.known_browsers"
DAYS = 90
# How many accounts one browser is known to, the latest ones.
MOST = 10


def remember(request: HttpRequest, response: HttpResponseBase, user: User) -> None:
    """Let the browser that gets `response` be known to the account from now on."""
    browser, accounts = _read(request)
    accounts = [*(one for one in accounts if one != user.pk), user.pk][-MOST:]
    response.set_cookie(
        COOKIE,
        signing.dumps([browser or get_random_string(22), accounts], salt=SALT),
        max_age=DAYS * 86_400,
        path=PATH,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def known_to(request: HttpRequest, login: str) -> str | None:
    """Return the browser's id if the account with this name or mail address has signed in from it;
    else None.
    """
    browser, accounts = _read(request)
    if not accounts:
        return None
    named = Q(username=login) | Q(emailaddress__email__iexact=login)
    return browser if User.objects.filter(named, pk__in=accounts).exists() else None


def _read(request: HttpRequest) -> tuple[str, list[int]]:
    """The browser's id and the accounts that know it; nothing of a cookie that is not ours."""
    try:
        told: Any = signing.loads(request.COOKIES.get(COOKIE, ""), salt=SALT, max_age=DAYS * 86_400)
    except signing.BadSignature:
        return "", []
    return told[0], told[1]
