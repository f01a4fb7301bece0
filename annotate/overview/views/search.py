"""The search of a project."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_GET

from annotate.overview.search import SearchForm, search
from annotate.projects import access
from annotate.projects.project_page import project_page
from base.page_request import PageRequest


@require_GET
def search_project(request: PageRequest, slug: str) -> HttpResponse:
    """List what an id, a title or a name leads to; open it at once if it is the only one."""
    member = access.member(request.user, slug)
    form = SearchForm(request.GET if "q" in request.GET else None)
    results = search(member, form.cleaned_data["q"]) if form.is_valid() else None
    if results is not None and len(results.hits) == 1:
        return redirect(results.hits[0].url)
    return project_page(
        request, "overview/search.html", member, section="search", form=form, found=results
    )
