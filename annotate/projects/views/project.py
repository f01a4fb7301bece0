"""Create a project, change its settings, archive it."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from annotate.judgments.grades import is_judged
from annotate.projects import access, rules
from annotate.projects.actions import create_project
from annotate.projects.forms.project import (
    DueDateForm,
    GradeFormSet,
    NewProjectForm,
    RulesForm,
    grade_rules,
)
from annotate.projects.kinds import kind_of
from annotate.projects.project_page import project_page
from base.page_request import PageRequest, refusal_in


@require_http_methods(["GET", "POST"])
def new_project(request: PageRequest) -> HttpResponse:
    """Create a project led by the person who creates it."""
    form = NewProjectForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with refusal_in(form, "slug"):
            project = create_project(**form.cleaned_data, by=request.user)
            messages.success(
                request, "The project is created, and you lead it. Load a collection next."
            )
            return redirect("annotate:loads", project.slug)
    return render(
        request, "projects/new_project.html", {"form": form}, status=422 if form.errors else 200
    )


@require_http_methods(["GET", "POST"])
def settings(request: PageRequest, slug: str) -> HttpResponse:
    """Show and change the project's rules and grades."""
    member = access.lead(request.user, slug)
    grades = member.project.grades.order_by("value").values("value", "name", "sentence")
    form = RulesForm(request.POST or None, instance=member.project)
    formset = GradeFormSet(request.POST or None, initial=list(grades), prefix="grades")
    judged = is_judged(member.project)
    if request.method == "POST" and form.is_valid() and formset.is_valid():
        with refusal_in(form):
            rules.change_rules(changes=form.cleaned_data, grades=grade_rules(formset), by=member)
            messages.success(request, "Saved. The rules apply from now on.")
            if judged and {"judge_order", "order_seed"} & set(form.changed_data):
                messages.info(
                    request,
                    (
                        "Judges get the remaining documents in the new order. Their judgments "
                        "are kept."
                    ),
                )
            return redirect("annotate:settings", slug)
    bad = request.method == "POST"
    member.project.refresh_from_db()
    return project_page(
        request,
        "projects/settings.html",
        member,
        section="settings",
        kind=kind_of(member.project.kind),
        form=form,
        grades=formset,
        due_form=DueDateForm(initial={"due_on": member.project.due_on}),
        judged=judged,
        status=422 if bad else 200,
    )


@require_POST
def archiving(request: PageRequest, slug: str) -> HttpResponse:
    """Archive or unarchive the project."""
    member = access.lead(request.user, slug)
    if request.POST.get("archived") == "yes":
        if "sure" not in request.POST:
            messages.error(request, "Nothing was archived. Tick the box if you are sure.")
            return redirect("annotate:settings", slug)
        rules.archive(by=member)
        messages.success(request, "The project is archived. Nothing in it can be changed.")
    else:
        rules.unarchive(by=member)
        messages.success(request, "The project is no longer archived.")
    return redirect("annotate:settings", slug)
