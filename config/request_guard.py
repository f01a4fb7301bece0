"""What holds for every request before anything else sees it, and for every answer."""

from __future__ import annotations

import errno
from collections.abc import Callable
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote

from django.conf import settings
from django.core.files.uploadhandler import FileUploadHandler, SkipFile
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from base.api.problems import as_problem, unavailable
from config.request_bodies import REFUSED, is_too_large, takes_file

# No page of ours asks the browser for any of these, so nothing on a page may.
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


def content_policy(pictures: str = "") -> str:
    """Return the header that says what a page may load. `pictures`: where else they may be from."""
    allowed = dict(settings.CONTENT_SECURITY_POLICY)
    allowed["img-src"] = f"{allowed['img-src']} {pictures}".rstrip()
    return "; ".join(f"{kind} {sources}" for kind, sources in allowed.items())


HEADERS = {
    "Content-Security-Policy": content_policy(),
    "Permissions-Policy": PERMISSIONS,
    # Nobody else's page may draw in what is answered here: documents may be licensed.
    "Cross-Origin-Resource-Policy": "same-origin",
    # What another site opens, or is opened by, has no hold of our window.
    "Cross-Origin-Opener-Policy": "same-origin",
    # No proxy may keep what one person was shown, and no browser shows it without asking again.
    "Cache-Control": "private, no-cache",
}
# In what a body may say that it is written: ASCII is UTF-8.
READ = {"utf-8", "utf8", "us-ascii", "ascii"}
# What a browser may show or use where it stands, beside pictures and fonts. All else is saved.
SHOWN = {
    *("text/html", "text/plain", "text/css", "text/javascript", "application/javascript"),
    *("application/json", "application/problem+json"),
}


def guard(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware: refuse addresses and bodies that no page sends; say in every answer what a
    browser may do with it. Programs are told every error as a problem.

    A NUL in an address is 400: PostgreSQL keeps none, so nothing here has one in its name. A body
    in another encoding than UTF-8 is 400 as well: neither pages nor JSON have one, and what is an
    encoding for Python is not always one of texts. A body larger than its sender may send to this
    address is 413, before any of it is read; what the web server refuses (`config.asgi`) is
    answered as it says. An address that only takes forms says so to who opens it.
    """

    def watch(request: HttpRequest) -> HttpResponseBase:
        if "\0" in request.path_info:
            return _refusal(request, 400)
        if places := _with_nul(request):
            return _refusal(request, 400, dict.fromkeys(places, _("There is a NUL in this.")))
        if request.content_params and _encoding(request) not in READ:
            return _refusal(request, 400)
        if refused := request.META.get(REFUSED):
            return _refusal(request, refused)
        if is_too_large(request):
            return _refusal(request, 413)
        response = get_response(request)
        if response.status_code == 405 and isinstance(response, HttpResponseNotAllowed):
            # Opened from the history or a bookmark; an empty page would say nothing.
            response.content = render_to_string("405.html")
            # The length of the empty page is said already, and a server sends no more than that.
            response.headers["Content-Length"] = str(len(response.content))
        return with_headers(as_problem(request, response))

    return watch


def _with_nul(request: HttpRequest) -> list[str]:
    """The parameters of the address that hold a NUL, as problems name them."""
    query = request.META.get("QUERY_STRING", "")
    names = [part.partition("=")[0] for part in query.split("&") if "%00" in part]
    return [f"?{unquote(name).replace(chr(0), '')}" for name in names]


def _encoding(request: HttpRequest) -> str:
    """What the body says it is written in."""
    return (request.content_params or {}).get("charset", "utf-8").strip().lower()


def _refusal(
    request: HttpRequest, status: int, faults: dict[str, str] | None = None
) -> HttpResponseBase:
    if status == HTTPStatus.INSUFFICIENT_STORAGE:
        return with_headers(unavailable(request, OSError(errno.ENOSPC, "")))
    page = HttpResponse(render_to_string(f"{int(status)}.html"), status=status)
    return with_headers(as_problem(request, page, faults))


def with_headers(response: HttpResponseBase) -> HttpResponseBase:
    """Add the headers of every answer, where it does not say otherwise itself."""
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    kind = response.get("Content-Type", "text/plain").partition(";")[0]
    if kind not in SHOWN and not kind.startswith(("image/", "font/")):
        response.headers.setdefault("Content-Disposition", "attachment")
    return response


class OnlyWanted(FileUploadHandler):
    """Keeps a file only where a form takes one and its sender is signed in.

    Every form is parsed, with its files, before it is known which it is: otherwise anybody could
    fill the disk.
    """

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        """Skip the file unless somebody who is signed in sends it to a form that takes one."""
        super().new_file(*args, **kwargs)
        request = self.request
        user = getattr(request, "user", None)
        if request is None or user is None or not user.is_authenticated or not takes_file(request):
            raise SkipFile

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        """Hand on what is read."""
        return raw_data

    def file_complete(self, file_size: int) -> None:
        """Leave the file to the handlers behind this one."""
