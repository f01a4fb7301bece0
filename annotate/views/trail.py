"""The trail: what leads and administrators did, to be read and taken away, never changed."""

from __future__ import annotations

from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET

from annotate import access
from annotate.deeds import DEEDS
from annotate.forms.trail import TrailForm
from annotate.requests import PageRequest
from annotate.screens import trail as screen
from annotate.screens.pages import newest_by_key
from annotate.screens.tables import csv_lines
from annotate.screens.trail import Asked


@require_GET
def trail(request: PageRequest, slug: str) -> HttpResponse:
    """List what was done, newest first; who, what and when are in the address."""
    member = access.lead(request.user, slug)
    form = TrailForm(member, request.GET)
    asked = form.asked()
    page = newest_by_key(screen.deeds(member, form.kinds, asked), request.GET)
    kept = request.GET.copy()
    for place in ("after", "before"):
        kept.pop(place, None)
    return render(
        request,
        "annotate/trail.html",
        {
            "project": member.project,
            "member": member,
            "section": "trail",
            "form": form,
            "filtered": asked != Asked(),
            "blind": len(form.kinds) < len(DEEDS),
            "lines": screen.lines(page.rows, form.kinds),
            "previous_url": page.previous,
            "next_url": page.next,
            "filter": kept.urlencode(),
        },
    )


@require_GET
def table(request: PageRequest, slug: str) -> HttpResponseBase:
    """Send all of what the page lists as a table, oldest first."""
    member = access.lead(request.user, slug)
    form = TrailForm(member, request.GET)
    if not form.is_valid():
        return redirect("annotate:trail", slug)
    return StreamingHttpResponse(
        csv_lines(screen.table(screen.deeds(member, form.kinds, form.asked()))),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{slug}-trail.csv"'},
    )
