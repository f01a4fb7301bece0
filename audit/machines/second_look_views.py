"""The page on which a lead gives labels of a machine to people for a second look."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from annotate.projects.project_page import project_page
from audit.machines.access import machine_for_lead
from audit.machines.second_look import SecondLookForm, second_looks, take_second_look
from base.page_request import PageRequest, refusal_in


@require_http_methods(["GET", "POST"])
def second_look(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """Show how many labels are in doubt, and make a sample of those in most doubt."""
    member, machine = machine_for_lead(request.user, slug, pk)
    looks = second_looks(machine)
    form = SecondLookForm(looks, request.POST or None)
    if request.method == "POST" and form.is_valid():
        with refusal_in(form):
            sample = take_second_look(machine=machine, by=member, **form.cleaned_data)
            messages.success(request, "People who have not answered these documents check them.")
            return redirect(sample)
    return project_page(
        request,
        "machines/second_look.html",
        member,
        "agreement",
        machine=machine,
        form=form,
        looks=looks,
        possible=any(look.claims for look in looks),
        status=422 if form.errors else 200,
    )
