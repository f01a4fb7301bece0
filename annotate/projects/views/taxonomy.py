"""The page of a project's taxonomy."""

from __future__ import annotations

from django.contrib import messages
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST

from annotate.projects import access
from annotate.projects import taxonomy as actions
from annotate.projects.forms.taxonomy import CategoryFormSet, kinds
from annotate.projects.project_page import project_page
from annotate.projects.taxonomies import TAXONOMIES
from base.errors import Refused
from base.page_request import PageRequest, refusal_as_message


@require_http_methods(["GET", "POST"])
def categories(request: PageRequest, slug: str) -> HttpResponse:
    """Show and change the types of a project's instructions."""
    member = access.lead(request.user, slug)
    rows = list(
        member.project.categories.order_by("place", "key").values("key", "name", "sentence")
    )
    formset = CategoryFormSet(request.POST or None, initial=rows, prefix="categories")
    error = ""
    if request.method == "POST" and formset.is_valid():
        try:
            actions.set_categories(kinds=kinds(formset), by=member)
        except Refused as refused:
            error = str(refused)
        else:
            messages.success(request, "Saved.")
            return redirect("annotate:categories", slug)
    used = member.project.pairs.exclude(category="").order_by().values_list("category")
    counts = dict(used.annotate(n=Count("pk")))
    keys = {row["key"] for row in rows}
    return project_page(
        request,
        "projects/categories.html",
        member,
        section="settings",
        categories=formset,
        error=error,
        unknown=sorted((key, n) for key, n in counts.items() if key not in keys),
        taxonomies=[
            {"name": name, "kinds": kinds}
            for name, kinds in TAXONOMIES.items()
            if not {kind.key for kind in kinds} <= keys
        ],
        status=422 if request.method == "POST" else 200,
    )


@require_POST
def taxonomy(request: PageRequest, slug: str) -> HttpResponse:
    """Add the types of a ready-made taxonomy."""
    member = access.lead(request.user, slug)
    with refusal_as_message(request):
        actions.add_taxonomy(name=request.POST.get("name", ""), by=member)
        messages.success(request, "Added. You can edit the names and sentences.")
    return redirect("annotate:categories", slug)
