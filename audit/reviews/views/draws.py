"""The page that draws the instructions to review."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from annotate.projects import access as annotate_access
from annotate.projects.project_page import project_page
from audit.reviews import draws
from audit.reviews.forms import ReviewDrawForm
from base.errors import Refused
from base.page_request import PageRequest


@require_http_methods(["GET", "POST"])
def review_draw(request: PageRequest, slug: str) -> HttpResponse:
    """Preview a draw (`?size=`), make it, or end the current one (`end`)."""
    member = annotate_access.lead(request.user, slug)
    project = member.project
    has_choices = "size" in request.GET or request.method == "POST"
    form = ReviewDrawForm((request.POST or request.GET) if has_choices else None)
    planned, error = None, ""
    try:
        if "end" in request.POST:
            if draws.end_draw(project=project, by=member):
                messages.success(request, "The draw has ended: every instruction is reviewed.")
            return redirect("audit:reviews", slug)
        if request.method == "POST" and form.is_valid():
            draws.draw_for_review(project=project, by=member, **form.cleaned_data)
            messages.success(request, "Drawn. Only these instructions are reviewed now.")
            return redirect("audit:review_draw", slug)
    except Refused as refused:
        error = str(refused)
    if has_choices and form.is_valid():
        planned = draws.plan_draw(project, **form.cleaned_data)
    current = draws.current_draw(project)
    return project_page(
        request,
        "reviews/draw.html",
        member,
        "reviews",
        form=form,
        error=error,
        standing=current,
        plan=planned,
        strata=[
            (stratum, planned.sizes[stratum], planned.taken.get(stratum))
            for stratum in planned.sizes
        ]
        if planned
        else [],
        status=422 if request.method == "POST" else 200,
    )
