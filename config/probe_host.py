"""The three addresses that machines ask: whether all is well, and how much there is."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

PROBES = {"/healthz", "/readyz", "/metrics"}


def any_name(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware: answer them whatever the site is called by who asks, which is often a number.

    Nothing in these answers depends on the name.
    """

    def answer(request: HttpRequest) -> HttpResponseBase:
        if request.path_info in PROBES:
            request.META["HTTP_HOST"] = _served_name()
        return get_response(request)

    return answer


def _served_name() -> str:
    for name in settings.ALLOWED_HOSTS:
        if name != "*" and not name.startswith("."):
            return str(name)
    return "localhost"
