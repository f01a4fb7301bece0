"""Limits on the size of a request's body and on the time it takes to arrive."""

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

# Bytes. Forms and JSON have at most settings.DATA_UPLOAD_MAX_MEMORY_SIZE; a body that is a little
# larger gets an error that names the field or the limit.
LITTLE = 4 * 1024**2
# Routes where a project's lead uploads files of up to settings.MAX_UPLOAD bytes.
UPLOADS = {"annotate:loads", "annotate:api_loads"}
# Routes with a form that takes a file.
TAKES_FILE = {*UPLOADS, "audit:rubric"}

# A body has this many seconds, and one more for each `RATE` bytes that have arrived.
GRACE = 10.0
RATE = 16_384
# The maximum number of seconds for a body of at most `LITTLE` bytes, and for any other.
LONGEST_LITTLE = 120.0
LONGEST = 3600.0

# Key in the WSGI environ: the status with which `config.asgi` refuses a request, or None.
REFUSED = "rejudge.refused"


def seconds_for(arrived: int, expected: int) -> float:
    """Return how many seconds after its start a body times out if no more bytes arrive.

    `arrived` of its `expected` bytes have arrived so far.
    """
    return min(GRACE + arrived / RATE, LONGEST_LITTLE if expected <= LITTLE else LONGEST)


def is_too_large(request: HttpRequest) -> bool:
    """Return whether a request's body is larger than its sender may send to this address."""
    length = request.META.get("CONTENT_LENGTH") or "0"
    # `int` also accepts other scripts' digits, and raises an error for thousands of digits.
    if not (length.isascii() and length.isdecimal()) or len(length) > 20:
        return True
    if int(length) <= LITTLE:
        return False
    return int(length) > settings.MAX_UPLOAD or not _may_upload(request)


def is_refused(environ: dict[str, Any]) -> bool:
    """Like `is_too_large`, for the environ of a request that Django has not seen yet."""
    return is_too_large(WSGIRequest({**environ, "wsgi.input": io.BytesIO()}))


def takes_file(request: HttpRequest) -> bool:
    """Return whether a form at this address takes a file."""
    return _route(request) in TAKES_FILE


def _may_upload(request: HttpRequest) -> bool:
    """Return whether this is an upload address of a project that the sender leads."""
    if _route(request) not in UPLOADS:
        return False
    slug = resolve(request.path_info).kwargs["slug"]
    try:
        access.lead(_sender(request), slug)
    except (Http404, PermissionDenied, AuthenticationFailed):
        return False
    return True


def _sender(request: HttpRequest) -> access.Person:
    """Return the user of the token or session of a request that no middleware has seen yet."""
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
