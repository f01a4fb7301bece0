"""Before Django sees a request: what of it cannot be read.

Nothing here may need the settings: it is read before they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from django.utils.http import parse_header_parameters

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def readable(application: Application) -> Application:
    """WSGI: a kind of body that cannot be read is none.

    Django would give up on such a request before any middleware, and the server would answer it
    without a word.
    """

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        try:
            parse_header_parameters(environ.get("CONTENT_TYPE", ""))
        except ValueError:
            environ["CONTENT_TYPE"] = ""
        return application(environ, start_response)

    return answer
