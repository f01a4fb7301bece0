"""How large a request's body may be: it depends on the address and on the sender."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import Resolver404, resolve
from rest_framework.exceptions import AuthenticationFailed

from annotate.people.tokens import TokenAuthentication
from annotate.projects import access

# In bytes. Forms and JSON have at most settings.DATA_UPLOAD_MAX_MEMORY_SIZE; a body that is a
# little larger gets an error that names the field or the limit.
SMALL = 4 * 1024**2
# Routes where a project's lead uploads files of up to settings.MAX_UPLOAD bytes.
UPLOADS = {
    *("annotate:loads", "annotate:api_loads", "annotate:api_several_loads"),
    *("audit:new_model_run", "audit:api_model_runs"),
}
# Routes with a form that takes a file.
TAKES_FILE = {*UPLOADS, "audit:rubric"}


def is_too_large(request: HttpRequest) -> bool:
    """Return whether a request's body is larger than its sender may send to this address."""
    length = request.META.get("CONTENT_LENGTH") or "0"
    # `int` also accepts other scripts' digits, and raises an error for thousands of digits.
    if not (length.isascii() and length.isdecimal()) or len(length) > 20:
        return True
    if int(length) <= SMALL:
        return False
    return int(length) > settings.MAX_UPLOAD or not _may_upload(request)


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
