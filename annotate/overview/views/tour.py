"""The tour: what a newcomer needs to know, in a minute, with one document to judge."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotate.people.preferences import change_preferences
from annotate.projects import access
from annotate.projects.models import Grade
from base.page_request import PageRequest
from base.word_diff import diff

ORIGINAL = "A relevant document names a tidal power plant that is planned or in use."
ALTERED = "A relevant document names a tidal power plant that is in use."
GRADES = [
    Grade(value=0, name="Not relevant"),
    Grade(value=1, name="Relevant"),
    Grade(value=2, name="Highly relevant"),
]


@require_http_methods(["GET", "POST"])
def tour(request: PageRequest) -> HttpResponse:
    """Show a step of the tour (`?step=2`); a POST ends the tour, or skips it.

    In the second step the reader grades a document (`?relevance=0`), and the third says what most
    people would have answered. The last step is only for people who lead a project or are in none
    yet.
    """
    if request.method == "POST":
        change_preferences(wants_tour=False, by=request.user)
        return redirect("annotate:home")
    members = access.projects_of(request.user)
    last = 5 if not members or any(member.leads for member in members) else 4
    step = _number(request.GET.get("step", "")) or 1
    return render(
        request,
        "overview/tour.html",
        {
            "step": min(step, last),
            "last": last,
            "original": ORIGINAL,
            "altered": diff(ORIGINAL, ALTERED),
            "grades": GRADES,
            "relevance": _number(request.GET.get("relevance", "")),
        },
    )


def _number(typed: str) -> int | None:
    return int(typed) if typed.isascii() and typed.isdigit() and len(typed) == 1 else None
