"""Pages of rubrics: the current one, the others, and a new version."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST

from annotate.projects import access as annotate_access
from annotate.projects.models import Membership
from annotate.projects.project_page import project_page
from audit.reviews import project_rubric, rubrics
from audit.reviews.criteria import SHIPPED, Rubric
from audit.reviews.forms import RubricForm
from audit.reviews.models import Review
from audit.reviews.models import Rubric as RubricRow
from audit.reviews.review_page import levels_of
from base.errors import Refused
from base.page_request import PageRequest, refusal_as_message
from formats.rubrics import format_rubric


@require_http_methods(["GET", "POST"])
def rubric(request: PageRequest, slug: str) -> HttpResponse:
    """Show the current rubric or that in `?name=`; edit, preview and save a new version."""
    member = annotate_access.lead(request.user, slug)
    current = rubrics.current_rubric(member.project_id)
    name = request.GET.get("name", "")
    try:
        shown = rubrics.get_rubric(member.project_id, name) if name else current
    except rubrics.UnknownRubric:
        shown = current
    preview = None
    proposed = shown._replace(name=rubrics.next_name(member.project_id, shown.name))
    form = RubricForm(initial={"text": format_rubric(proposed)})
    if request.method == "POST":
        form = RubricForm(request.POST, request.FILES)
        if form.is_valid():
            preview = Rubric(*form.content)
            # Show the content of an uploaded file in the text field, where it can be edited.
            form = RubricForm({"text": format_rubric(preview)}, content=preview)
            form.is_valid()
            if "save" in request.POST and _try_save(request, member, form, preview):
                return redirect("audit:rubric", slug)
    return project_page(
        request,
        "reviews/rubric.html",
        member,
        "settings",
        in_force=current,
        kept=RubricRow.objects.current_of(member.project_id),
        shown=shown,
        levels=levels_of(shown),
        others=_rubric_rows(member, current),
        preview=preview,
        preview_levels=levels_of(preview) if preview else [],
        form=form,
        next_name=proposed.name,
        editing=request.method == "POST" or "edit" in request.GET,
        status=422 if form.is_bound and form.errors else 200,
    )


@require_POST
def rubric_choice(request: PageRequest, slug: str) -> HttpResponse:
    """Make another rubric current."""
    member = annotate_access.lead(request.user, slug)
    with refusal_as_message(request):
        chosen = project_rubric.choose_rubric(
            project=member.project, name=request.POST.get("name", ""), by=member
        )
        _announce(request, chosen)
    return redirect("audit:rubric", slug)


def _try_save(request: PageRequest, member: Membership, form: RubricForm, content: Rubric) -> bool:
    """Save a rubric and return True, or add the reason for refusal to the form."""
    try:
        saved = project_rubric.save_rubric(project=member.project, content=content, by=member)
    except Refused as refused:
        form.add_error("text", str(refused))
        return False
    _announce(request, saved)
    return True


def _announce(request: PageRequest, row: RubricRow) -> None:
    messages.success(
        request,
        f"“{row.name}” is now the rubric. Versions already under review keep theirs.",
    )


def _rubric_rows(member: Membership, current: Rubric) -> list[dict[str, Any]]:
    """Return every rubric the project can choose, with the number of its reviews: two queries."""
    reviews = Review.objects.of_people().filter(auditor__project=member.project_id).order_by()
    counted = dict(reviews.values_list("rubric").annotate(n=Count("pk")))
    stored = {row.name: row for row in RubricRow.objects.filter(project=member.project_id)}
    rubrics = {name: row.content for name, row in stored.items()} | SHIPPED
    return [
        {
            "rubric": rubrics[name],
            "reviews": counted.get(name, 0),
            "shipped": name in SHIPPED,
            "in_force": name == current.name,
            "created_at": stored[name].created_at
            if name in stored and name not in SHIPPED
            else None,
        }
        for name in sorted(rubrics)
    ]
