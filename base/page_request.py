"""The type of the request that our views get: signed in, with htmx details."""

from __future__ import annotations

from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails

from base.users import User


class PageRequest(HttpRequest):
    """A request to a page behind the login, after the middleware."""

    user: User
    htmx: HtmxDetails
