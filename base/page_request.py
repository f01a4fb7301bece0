"""The request that our views get, signed in and with htmx details, and its refusals."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib import messages
from django.forms import BaseForm
from django.http import HttpRequest
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
