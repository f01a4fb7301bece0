"""The page of a project's passage rule."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from annotate.collection.forms.passages import PassagesForm
from annotate.collection.passages import passage_rule_of, set_passage_rule
from annotate.projects.access import lead
from annotate.projects.project_page import project_page
from base.page_request import PageRequest, refusal_in


@require_http_methods(["GET", "POST"])
def passages(request: PageRequest, slug: str) -> HttpResponse:
    """Show how passages are cut and published; a POST changes it."""
    member = lead(request.user, slug)
    form = PassagesForm(request.POST or None, instance=passage_rule_of(member.project))
    if request.method == "POST" and form.is_valid():
        with refusal_in(form):
            set_passage_rule(project=member.project, changes=form.cleaned_data, by=member)
            messages.success(request, "Saved.")
            return redirect("annotate:passages", slug)
    return project_page(
        request,
        "collection/passages.html",
        member,
        section="pools",
        form=form,
        status=422 if form.errors else 200,
    )
