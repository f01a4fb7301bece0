"""Checks on every request before other code sees it, the way to the sign-in page, and headers for
every response.

How large a body may be depends on the address and on the sender. Probes are answered under any
host name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import unquote, urlsplit

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import get_user
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.views import redirect_to_login
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.exceptions import PermissionDenied
from django.core.files.uploadhandler import FileUploadHandler, SkipFile
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseNotAllowed,
    HttpResponseRedirect,
)
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string
from django.urls import Resolver404, resolve
from django.utils.cache import patch_vary_headers
from django.utils.http import url_has_allowed_host_and_scheme
from rest_framework.exceptions import AuthenticationFailed

from annotate.people.tokens import TokenAuthentication
from annotate.projects import access
from base.api.problems import as_problem

# No page of ours uses any of these features, so nothing on a page may.
PERMISSIONS = ", ".join(
    f"{feature}=()"
    for feature in (
        "accelerometer",
        "autoplay",
        "browsing-topics",
        "camera",
        "display-capture",
        "geolocation",
        "gyroscope",
        "hid",
        "magnetometer",
        "microphone",
        "midi",
        "payment",
        "serial",
        "usb",
        "xr-spatial-tracking",
    )
)

# In bytes. Forms and JSON have at most settings.DATA_UPLOAD_MAX_MEMORY_SIZE; a body that is a
# little larger gets an error that names the field or the limit.
SMALL_BODY = 4 * 1024**2
# Routes where a project's lead uploads files of up to settings.MAX_UPLOAD bytes.
UPLOADS = {
    *("annotate:loads", "annotate:api_loads", "annotate:api_several_loads"),
    *("audit:new_model_run", "audit:api_model_runs"),
}
# Routes with a form that takes a file.
TAKES_FILE = {*UPLOADS, "audit:rubric"}

PROBES = {"/healthz", "/readyz", "/metrics"}
# Only /metrics depends on who asks.
WITHOUT_SESSION = {"/healthz", "/readyz"}


def content_policy(pictures: str = "") -> str:
    """Return the Content-Security-Policy header; `pictures` are further sources of images."""
    allowed = dict(settings.CONTENT_SECURITY_POLICY)
    allowed["img-src"] = f"{allowed['img-src']} {pictures}".rstrip()
    return "; ".join(f"{kind} {sources}" for kind, sources in allowed.items())


HEADERS = {
    "Content-Security-Policy": content_policy(),
    "Permissions-Policy": PERMISSIONS,
    # No other site may embed our responses: documents may be licensed.
    "Cross-Origin-Resource-Policy": "same-origin",
    # A window of another site that opens ours, or that ours opens, gets no reference to it.
    "Cross-Origin-Opener-Policy": "same-origin",
    # No proxy may store a response to one person, and a browser must revalidate it before reuse.
    "Cache-Control": "private, no-cache",
}
# Encodings that a body may declare; ASCII is a subset of UTF-8.
READ = {"utf-8", "utf8", "us-ascii", "ascii"}
# Types that a browser may display or use, besides images and fonts. It saves all others.
SHOWN = {
    *("text/html", "text/plain", "text/css", "text/javascript", "application/javascript"),
    *("application/json", "application/problem+json"),
}


def guard(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware: refuse malformed requests and add the security headers to every response.

    A NUL in an address is 400: PostgreSQL cannot store one, so nothing has one in its name. A body
    in an encoding other than UTF-8 is 400 as well: pages and JSON use only UTF-8, and some of
    Python's encodings are not text encodings. A body larger than its sender may send to this
    address is 413; `config.web` leaves it unread. A GET of an address that only takes forms gets a
    page that explains this. In the API, every error is problem JSON.
    """

    def watch(request: HttpRequest) -> HttpResponseBase:
        if "\0" in request.path_info:
            return _refusal(request, 400)
        if places := _with_nul(request):
            return _refusal(request, 400, dict.fromkeys(places, "There is a NUL in this."))
        if request.content_params and _encoding(request) not in READ:
            return _refusal(request, 400)
        if is_too_large(request):
            return _refusal(request, 413)
        response = get_response(request)
        if response.status_code == 405 and isinstance(response, HttpResponseNotAllowed):
            # Opened from the history or a bookmark; Django's empty page would explain nothing.
            response.content = render_to_string("405.html")
            # The header has the length of the empty page, and a server sends no more than that.
            response.headers["Content-Length"] = str(len(response.content))
        return with_headers(as_problem(request, response))

    return watch


def _with_nul(request: HttpRequest) -> list[str]:
    """Return the query parameters that contain a NUL, as problem responses name them."""
    query = request.META.get("QUERY_STRING", "")
    names = [part.partition("=")[0] for part in query.split("&") if "%00" in part]
    return [f"?{unquote(name).replace(chr(0), '')}" for name in names]


def _encoding(request: HttpRequest) -> str:
    """Return the encoding that the body declares."""
    return (request.content_params or {}).get("charset", "utf-8").strip().lower()


def _refusal(
    request: HttpRequest, status: int, faults: dict[str, str] | None = None
) -> HttpResponseBase:
    page = HttpResponse(render_to_string(f"{status}.html"), status=status)
    return with_headers(as_problem(request, page, faults))


def with_headers(response: HttpResponseBase) -> HttpResponseBase:
    """Add the headers of every response, except those that it has already set."""
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    # A script that asks for a part of a page gets only that; “Back” must not show it as the page.
    patch_vary_headers(response, ["HX-Request"])
    kind = response.get("Content-Type", "text/plain").partition(";")[0]
    if kind not in SHOWN and not kind.startswith(("image/", "font/")):
        response.headers.setdefault("Content-Disposition", "attachment")
    return response


class OnlyWanted(FileUploadHandler):
    """Skips an uploaded file unless the form takes one and the sender is signed in.

    Django parses every form with its files before any view checks it, so without this handler
    anyone could fill the disk.
    """

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        """Skip the file unless a signed-in user sends it to a form that takes one."""
        super().new_file(*args, **kwargs)
        request = self.request
        user = getattr(request, "user", None)
        if request is None or user is None or not user.is_authenticated or not takes_file(request):
            raise SkipFile

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        """Pass the chunk on to the next handler."""
        return raw_data

    def file_complete(self, file_size: int) -> None:
        """Leave the file to the handlers after this one."""


def is_too_large(request: HttpRequest) -> bool:
    """Return whether a request's body is larger than its sender may send to this address."""
    length = request.META.get("CONTENT_LENGTH") or "0"
    # `int` also accepts other scripts' digits, and raises an error for thousands of digits.
    if not (length.isascii() and length.isdecimal()) or len(length) > 20:
        return True
    if int(length) <= SMALL_BODY:
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


SIGNED_OUT = "You were signed out, so the button did nothing. Sign in to return to its page."


class SignInFirst(LoginRequiredMiddleware):
    """Redirect people who are not signed in to the sign-in page, which leads back.

    What a form sends is lost then, and its address may be no page: they return to the page with the
    form, and the sign-in page says so.
    """

    def handle_no_permission(
        self, request: HttpRequest, view_func: Callable[..., HttpResponseBase]
    ) -> HttpResponseRedirect:
        """Return the redirect to the sign-in page."""
        if request.method != "POST":
            return super().handle_no_permission(request, view_func)
        if request.accepts("text/html"):
            messages.warning(request, SIGNED_OUT)
        return redirect_to_login(_page_with_form(request))


def _page_with_form(request: HttpRequest) -> str:
    """Return the page that a form was sent from; the start page if the browser does not say."""
    page = request.headers.get("Referer", "")
    if not url_has_allowed_host_and_scheme(page, {request.get_host()}):
        return "/"
    place = urlsplit(page)
    return f"{place.path}?{place.query}" if place.query else place.path


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
