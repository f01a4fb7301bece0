"""How large a request's body may be, and how long it may take to arrive."""

from __future__ import annotations

import io
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.exceptions import PermissionDenied
from django.core.handlers.wsgi import WSGIRequest
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import Resolver404, resolve
from rest_framework.exceptions import AuthenticationFailed

from annotate.people.authentication import TokenAuthentication
from annotate.projects import access

# Bytes. Forms and JSON hold at most settings.DATA_UPLOAD_MAX_MEMORY_SIZE; who sends a little more
# reads a sentence that names the field or the limit.
LITTLE = 4 * 1024**2
# Where a project's lead hands in files as large as settings.MAX_UPLOAD.
UPLOADS = {"annotate:loads", "annotate:api_loads"}
# Where a form takes a file.
TAKES_FILE = {*UPLOADS, "audit:rubric"}

# A body has this many seconds, and one more for each `RATE` bytes that have arrived.
GRACE = 10.0
RATE = 16_384
# The most seconds for a body of at most `LITTLE` bytes, and for any other.
LONGEST_LITTLE = 120.0
LONGEST = 3600.0

# In the environ of WSGI: the status with which the web server wants a request refused, or None.
REFUSED = "rejudge.refused"


def seconds_for(arrived: int, expected: int) -> float:
    """Return how many seconds after its beginning a body is given up that does not go on, when
    `arrived` of its `expected` bytes are there.
    """
    return min(GRACE + arrived / RATE, LONGEST_LITTLE if expected <= LITTLE else LONGEST)


def is_too_large(request: HttpRequest) -> bool:
    """Say whether a request's body is larger than its sender may send to this address."""
    length = request.META.get("CONTENT_LENGTH") or "0"
    # `int` reads any digits, but not thousands of them.
    if not (length.isascii() and length.isdecimal()) or len(length) > 20:
        return True
    if int(length) <= LITTLE:
        return False
    return int(length) > settings.MAX_UPLOAD or not _may_upload(request)


def is_refused(environ: dict[str, Any]) -> bool:
    """Say the same of a request that Django has not seen yet, by its environ."""
    return is_too_large(WSGIRequest({**environ, "wsgi.input": io.BytesIO()}))


def takes_file(request: HttpRequest) -> bool:
    """Say whether a form at this address takes a file."""
    return _route(request) in TAKES_FILE


def _may_upload(request: HttpRequest) -> bool:
    """Whether a project takes files at this address, and the sender leads it."""
    if _route(request) not in UPLOADS:
        return False
    slug = resolve(request.path_info).kwargs["slug"]
    try:
        access.lead(_sender(request), slug)
    except (Http404, PermissionDenied, AuthenticationFailed):
        return False
    return True


def _sender(request: HttpRequest) -> access.Person:
    """Whose token or session comes with a request that no middleware has seen yet."""
    if by_token := TokenAuthentication().authenticate(request):  # type: ignore[arg-type]
        return by_token[0]
    SessionMiddleware(lambda _request: HttpResponse()).process_request(request)
    person: access.Person = get_user(request)
    return person


def _route(request: HttpRequest) -> str:
    try:
        return resolve(request.path_info).view_name
    except Resolver404:
        return ""
