"""Render the pages of a project."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from annotate.projects.models import Membership
from base.pagination import Page


def project_page(
    request: HttpRequest,
    template: str,
    member: Membership,
    section: str = "",
    *,
    page: Page[Any] | None = None,
    status: int = 200,
    **context: Any,
) -> HttpResponse:
    """Render a page of the member's project; `section` is the current entry of the rail.

    `page` is the part of a long list that the page shows: its rows are in `context`.
    """
    frame = {"project": member.project, "member": member, "section": section}
    if page is not None:
        context |= {"previous_url": page.previous, "next_url": page.next}
    return render(request, template, frame | context, status=status)
