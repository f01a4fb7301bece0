"""Requests: the one that views get, its refusals, its texts of several lines, the rows it names,
and the one being answered.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from django.contrib import messages
from django.db.models import Model, QuerySet
from django.forms import BaseForm, CharField, Textarea
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.utils.text import normalize_newlines
from django_htmx.middleware import HtmxDetails

from base.errors import InvalidField, Refused
from base.users import User


class PageRequest(HttpRequest):
    """A request to a page behind the login, after the middleware."""

    user: User
    htmx: HtmxDetails


@contextmanager
def refusal_as_message(request: HttpRequest) -> Iterator[None]:
    """Show the reason of a refusal as a message on the next page, instead of raising it."""
    try:
        yield
    except Refused as refused:
        messages.error(request, str(refused))


@contextmanager
def refusal_in(form: BaseForm, field: str | None = None) -> Iterator[None]:
    """Show the reason of a refusal in a form, at its field or else at this one, instead of raising
    it.
    """
    try:
        yield
    except InvalidField as refused:
        form.add_error(refused.field, str(refused))
    except Refused as refused:
        form.add_error(field, str(refused))


class LinesField(CharField):
    """A text of several lines. Each line ends with a line feed, and counts as one character.

    Browsers send a carriage return as well, which the page did not count as typed.
    """

    widget = Textarea

    def to_python(self, value: Any) -> str:
        """Return the text with line feeds as line ends."""
        return str(normalize_newlines(super().to_python(value) or ""))


Row = TypeVar("Row", bound=Model)
# No database has a larger primary key.
LARGEST_KEY = 2**63 - 1


def first_or_404(rows: QuerySet[Row], sentence: str) -> Row:
    """Return the first of the rows; raise Http404 with `sentence` if there is none."""
    row = rows.first()
    if row is None:
        raise Http404(sentence)
    return row


def row_or_404(rows: QuerySet[Row], pk: int, sentence: str) -> Row:
    """Return the row with this key, however large the key is; raise Http404 with `sentence`."""
    return first_or_404(rows.filter(pk=min(pk, LARGEST_KEY)), sentence)


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
