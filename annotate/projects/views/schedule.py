"""Pause or resume a project, and set its due date."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from annotate.projects import access, schedule
from annotate.projects.forms.project import DueDateForm
from base.errors import Refused
from base.page_request import PageRequest, refusal_as_message


@require_POST
def pause(request: PageRequest, slug: str) -> HttpResponse:
    """Pause or resume the project."""
    member = access.lead(request.user, slug)
    with refusal_as_message(request):
        if request.POST.get("paused") == "yes":
            schedule.pause(by=member)
            words = "The project is paused. No new tasks are given out."
        else:
            schedule.resume(by=member)
            words = "The project is resumed. Tasks are given out again."
        messages.success(request, words)
    return redirect("annotate:settings", slug)


@require_POST
def due_date(request: PageRequest, slug: str) -> HttpResponse:
    """Set or remove the due date."""
    member = access.lead(request.user, slug)
    form = DueDateForm(request.POST)
    with refusal_as_message(request):
        if not form.is_valid():
            raise Refused(" ".join(map(str, form.errors["due_on"])))
        schedule.set_due_date(due_on=form.cleaned_data["due_on"], by=member)
        messages.success(request, "The due date is saved.")
    return redirect("annotate:settings", slug)
