"""Metrics and log lines of every request.

They never contain the person; of the address they contain only the route, and its slug and key.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from prometheus_client import Counter, Histogram

from jobs.about import normalize_request_id

logger = logging.getLogger("rejudge.requests")

VERBS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
# Seconds. A judgment should take a tenth of a second.
BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)

COUNTED = Counter(
    "rejudge_requests", "Requests answered, by route, verb and status.", ["route", "verb", "status"]
)
TIMED = Histogram(
    "rejudge_request_seconds",
    "Seconds until the answer to a request began, by route.",
    ["route"],
    buckets=BOUNDS,
)


def requests(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware: count, time and log every request.

    The request's id, which the middleware before this one read or made, is normalized here.
    """

    def measure(request: HttpRequest) -> HttpResponseBase:
        normalize_request_id()
        began = time.perf_counter()
        response = get_response(request)
        seconds = time.perf_counter() - began
        match = request.resolver_match
        route = (match.view_name if match else "") or "none"
        verb = request.method if request.method in VERBS else "other"
        COUNTED.labels(route, verb, str(response.status_code)).inc()
        TIMED.labels(route).observe(seconds)
        if logger.isEnabledFor(logging.INFO):
            # Not the address itself: it may contain a secret, as in a password-reset link.
            logger.info(
                "%s %s %s",
                verb,
                route,
                response.status_code,
                extra={
                    "verb": verb,
                    "route": route,
                    "status": response.status_code,
                    "ms": round(seconds * 1_000, 1),
                    **{
                        name: value
                        for name, value in (match.kwargs if match else {}).items()
                        if name in {"slug", "pk"} and isinstance(value, str | int)
                    },
                },
            )
        return response

    return measure
