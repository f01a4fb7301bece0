"""The page on which a lead names who takes the tasks of a query."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from annotate.collection import access as collection_access
from annotate.overview.forms import QueryPeopleForm
from annotate.pairs.named_people import name_people, named_people, people_to_name
from annotate.projects import access
from annotate.projects.project_page import project_page
from base.page_request import PageRequest, refusal_in


@require_http_methods(["GET", "POST"])
def query_people(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """Set who takes each task of a query: the ticked people, or everybody."""
    member = access.lead(request.user, slug)
    query = collection_access.query(member, pk)
    form = QueryPeopleForm(
        request.POST if request.method == "POST" else None,
        project=member.project,
        people=list(people_to_name(member.project)),
        named=named_people(query),
    )
    if request.method == "POST" and form.is_valid():
        with refusal_in(form):
            name_people(query=query, people=form.people(), by=member)
            messages.success(request, "Saved. People keep the tasks that they already hold.")
            return redirect("annotate:query", slug, pk)
    return project_page(
        request,
        "overview/query_people.html",
        member,
        section="queries",
        query=query,
        form=form,
        status=422 if form.errors else 200,
    )
