"""The page of a person's notices, and the number of new ones."""

from __future__ import annotations

from datetime import datetime

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_GET, require_http_methods

from annotate.overview.notices import mark_read, new_among, notices_of, seen_until
from base.page_request import PageRequest


@require_http_methods(["GET", "POST"])
def notices(request: PageRequest) -> HttpResponse:
    """List the reader's notices, new ones first; a POST marks those shown as read."""
    if request.method == "POST":
        until = _parse_time(request.POST.get("until", ""))
        if until is not None:
            mark_read(until=until, by=request.user)
        return redirect("annotate:notices")
    now = timezone.now()
    found = notices_of(request.user)
    new = new_among(found, seen_until(request.user))
    return render(
        request,
        "overview/notices.html",
        {
            "new": new,
            "seen": [one for one in found if one not in new],
            "until": now.isoformat(),
        },
    )


@require_GET
def notices_count(request: PageRequest) -> HttpResponse:
    """Show how many notices are new, for the link on home."""
    new = len(new_among(notices_of(request.user), seen_until(request.user)))
    return render(request, "overview/_notices_count.html", {"new": new})


def _parse_time(typed: str) -> datetime | None:
    """Parse a time with its zone; return None for anything else."""
    try:
        found = parse_datetime(typed)
    except ValueError:
        return None
    return found if found is not None and found.tzinfo is not None else None
