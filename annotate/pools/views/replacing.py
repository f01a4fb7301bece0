"""Pages for replacing documents that failed a check."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate.pools import access
from annotate.pools import replacing as actions
from annotate.pools.forms import ReplacementForm
from annotate.projects.project_page import project_page
from base.page_request import PageRequest, refusal_as_message, refusal_in
from base.pagination import page_by_key


@require_http_methods(["GET", "POST"])
def replacement(request: PageRequest, slug: str, pk: int, candidate: int) -> HttpResponse:
    """Preview the effects of replacing a document; with their digest, replace it."""
    member, pooled = access.candidate(request.user, slug, pk, candidate)
    form = ReplacementForm(request.POST or None)
    effects = None
    if request.method == "POST" and form.is_valid():
        with refusal_in(form):
            if "preview" in request.POST:
                effects = actions.effects(pooled, form.document())
            else:
                made = actions.replace_document(
                    candidate=pooled,
                    new=form.document(),
                    reason=form.cleaned_data["reason"],
                    digest=request.POST.get("token", ""),
                    by=member,
                )
                messages.success(
                    request,
                    (
                        f"{made.old} was replaced by {made.new} in {made.pools.count()} pool."
                        if made.pools.count() == 1
                        else f"{made.old} was replaced by {made.new} in {made.pools.count()} pools."
                    ),
                )
                return redirect("annotate:query", slug, pk)
    return project_page(
        request,
        "pools/replacement.html",
        member,
        section="queries",
        query=pooled.query,
        candidate=pooled,
        form=form,
        effects=effects,
        status=422 if form.errors else 200,
    )


@require_GET
def replacements(request: PageRequest, slug: str) -> HttpResponse:
    """List replacements with their reasons, including undone ones."""
    member = access.lead(request.user, slug)
    page = page_by_key(actions.replacements(member.project), request.GET)
    return project_page(
        request,
        "pools/replacements.html",
        member,
        section="pools",
        rows=page.rows,
        page=page,
    )


@require_POST
def undoing(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """Undo a replacement."""
    member, undone = access.replacement(request.user, slug, pk)
    with refusal_as_message(request):
        actions.undo_replacement(replacement=undone, by=member)
        messages.success(request, "The replacement is undone: the old document is back.")
    return redirect("annotate:replacements", slug)
