"""The page of a person's notices."""

from __future__ import annotations

from datetime import datetime

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_http_methods

from annotate.overview.notices import mark_read, new_among, notices_of, seen_until
from base.page_request import PageRequest

# The number of notices on a page.
SIZE = 50


@require_http_methods(["GET", "POST"])
def notices(request: PageRequest) -> HttpResponse:
    """List the reader's notices, new ones first; a POST marks those shown as read."""
    if request.method == "POST":
        until = _parse_time(request.POST.get("until", ""))
        if until is not None:
            mark_read(until=until, by=request.user)
        return redirect("annotate:notices")
    now = timezone.now()
    all_notices, since = notices_of(request.user), seen_until(request.user)
    # They are in the order of their times, so that the new ones come first.
    page = Paginator(all_notices, SIZE).get_page(request.GET.get("page"))
    shown = list(page)
    new = new_among(shown, since)
    return render(
        request,
        "overview/notices.html",
        {
            "new": new,
            "seen": shown[len(new) :],
            "any_new": bool(new_among(all_notices, since)),
            "until": now.isoformat(),
            "page": page,
        },
    )


def _parse_time(typed: str) -> datetime | None:
    """Parse a time with its zone; return None for anything else."""
    try:
        moment = parse_datetime(typed)
    except ValueError:
        return None
    return moment if moment is not None and moment.tzinfo is not None else None
