"""The page of labels that machines claim differently."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from annotate.judgments.claims import contradicted_labels, count_undecided
from annotate.projects.project_page import project_page
from audit.checks import access
from audit.checks.forms import MachineForm
from audit.checks.machines import (
    choose_machine,
    claiming_machines,
    describe_labels,
    effect_of_choosing,
)
from base.page_request import PageRequest, refusal_in
from base.pagination import page_by_key

PAGE_SIZE = 50


@require_http_methods(["GET", "POST"])
def machines(request: PageRequest, slug: str) -> HttpResponse:
    """List the labels that machines claim differently; a POST chooses whose claims count.

    `?machine=` shows what the choice would do, with a button that makes it.
    """
    member = access.lead_of_claims(request.user, slug)
    asked = request.POST if request.method == "POST" else request.GET
    form = MachineForm(member, asked if "machine" in asked or asked is request.POST else None)
    if request.method == "POST" and form.is_valid():
        machine = form.cleaned_data["machine"]
        with refusal_in(form):
            choose_machine(machine=machine, by=member)
            messages.success(request, f"The claims of {machine.name} count now.")
            return redirect("audit:machines", slug)
    rows = contradicted_labels(member.project).select_related(
        "narrative__pair__query", "candidate__document"
    )
    page = page_by_key(rows, request.GET, PAGE_SIZE)
    preview = request.method == "GET" and form.is_valid()
    return project_page(
        request,
        "checks/machines.html",
        member,
        "checks",
        form=form,
        machines=claiming_machines(member.project),
        differing=rows.count(),
        undecided=count_undecided(member.project),
        chosen=form.cleaned_data["machine"] if preview else None,
        effect=effect_of_choosing(form.cleaned_data["machine"]) if preview else None,
        labels=describe_labels(member, page.rows),
        grades=list(member.project.grades.order_by("value")),
        page=page,
        status=422 if request.method == "POST" and form.errors else 200,
    )
