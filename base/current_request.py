"""The current request, for functions deep inside a page that do not get it as an argument."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextvars import ContextVar
from typing import Any, TypeVar

from django.http import HttpRequest
from django.http.response import HttpResponseBase

Result = TypeVar("Result")

_request: ContextVar[HttpRequest | None] = ContextVar("request", default=None)


def remember(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware: make the request available to `current_request` while it is answered."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        token = _request.set(request)
        try:
            return get_response(request)
        finally:
            _request.reset(token)

    return answer


def current_request() -> HttpRequest | None:
    """Return the request that is being answered, or None outside a request."""
    return _request.get()


def read_once(key: Hashable, read: Callable[[], Result]) -> Result:
    """Return what `read` returns, cached by key while a GET request is answered.

    A GET changes nothing, so the result stays valid. It is shared: do not modify it.
    """
    request = _request.get()
    if request is None or request.method not in ("GET", "HEAD"):
        return read()
    results: dict[Hashable, Any] = request.__dict__.setdefault("_read_once", {})
    if key not in results:
        results[key] = read()
    result: Result = results[key]
    return result
