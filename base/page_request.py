"""The request as our views see it: signed in, and known to htmx."""

from __future__ import annotations

from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails

from base.users import User


class PageRequest(HttpRequest):
    """What the middleware makes of a request to a page behind the login."""

    user: User
    htmx: HtmxDetails
