"""The WSGI application, which also answers requests that Django cannot parse."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ["REJUDGE_WEB_PROCESS"] = "1"

from django.core.wsgi import get_wsgi_application
from django.utils.http import parse_header_parameters

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def readable(application: Application) -> Application:
    """WSGI middleware: remove a Content-Type header that cannot be parsed.

    Django would fail on such a request before any middleware, and the server would send an empty
    error.
    """

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        try:
            parse_header_parameters(environ.get("CONTENT_TYPE", ""))
        except ValueError:
            environ["CONTENT_TYPE"] = ""
        return application(environ, start_response)

    return answer


application = readable(get_wsgi_application())
