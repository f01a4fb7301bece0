"""The three endpoints for monitoring: liveness, readiness and metrics."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

PROBES = {"/healthz", "/readyz", "/metrics"}
# Only /metrics depends on who asks.
WITHOUT_SESSION = {"/healthz", "/readyz"}


def any_name(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware: answer these endpoints under any host name, since probes often use an IP address.

    Nothing in the responses depends on the host name. Cookies are dropped where the session does
    not matter: reading it would ask the database, which may be the one that does not answer.
    """

    def answer(request: HttpRequest) -> HttpResponseBase:
        if request.path_info in PROBES:
            request.META["HTTP_HOST"] = _served_name()
        if request.path_info in WITHOUT_SESSION:
            request.META.pop("HTTP_COOKIE", None)
        return get_response(request)

    return answer


def _served_name() -> str:
    for name in settings.ALLOWED_HOSTS:
        if name != "*" and not name.startswith("."):
            return str(name)
    return "localhost"
