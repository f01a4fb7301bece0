"""Pages of computed lists, which are not ordered by a key; each list defines its own cursor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

from base.api.resource import Page

CURSOR = Page.cursor_query_param


def page_size(request: Request) -> int:
    """Return the number of entries per page."""
    return Page().get_page_size(request) or Page.page_size


def requested_cursor(request: Request) -> str:
    """Return the request's cursor as `page_response` wrote it; "" at the start."""
    return str(request.query_params.get(CURSOR, ""))


def invalid_cursor() -> ValidationError:
    """Return the error to raise for an invalid cursor."""
    return ValidationError({f"?{CURSOR}": ["This cursor is not valid."]})


def requested_part(request: Request, cursors: Sequence[str]) -> tuple[slice, str | None]:
    """Return which part of a list the request asks for, and the cursor of the next part; `cursors`
    are those of all entries, in order. 400 if the request's cursor is not among them.
    """
    after, size = requested_cursor(request), page_size(request)
    if after and after not in cursors:
        raise invalid_cursor()
    start = cursors.index(after) + 1 if after else 0
    end = start + size
    return slice(start, end), cursors[end - 1] if end < len(cursors) else None


def page_response(request: Request, results: Iterable[Any], following: str | None) -> Response:
    """Return the response for a page; `following` is the cursor of the next one, None at the end.

    These lists are read forward only.
    """
    here = request.build_absolute_uri()
    return Response(
        {
            "next": replace_query_param(here, CURSOR, following) if following else None,
            "previous": None,
            "results": list(results),
        }
    )
