"""Pages of lists that are in no order of keys: what is worked out, and cut where it was left."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

from base.api.resource import Page

CURSOR = Page.cursor_query_param


def size_of(request: Request) -> int:
    """How many entries a page has."""
    return Page().get_page_size(request) or Page.page_size


def cursor_of(request: Request) -> str:
    """Where the page begins, as `paged` wrote it; "" at the start."""
    return str(request.query_params.get(CURSOR, ""))


def nowhere() -> ValidationError:
    """What to raise for a cursor that no page of ours named."""
    return ValidationError({f"?{CURSOR}": [_("This cursor leads nowhere.")]})


def paged(request: Request, results: Iterable[Any], following: str | None) -> Response:
    """Answer with a page; `following` is the cursor of the next one, None at the end. These lists
    are read onward only.
    """
    here = request.build_absolute_uri()
    return Response(
        {
            "next": replace_query_param(here, CURSOR, following) if following else None,
            "previous": None,
            "results": list(results),
        }
    )
