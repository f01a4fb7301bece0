"""Pages for taking candidates out of pools and bringing them back."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from annotate.collection import access as collection_access
from annotate.collection.removal import parse_keys
from annotate.pools import access
from annotate.pools.removal import (
    keys_of_query,
    remove_candidates,
    removed_candidates,
    restore_candidates,
)
from annotate.projects.project_page import project_page
from base.page_request import PageRequest, refusal_as_message
from base.pagination import page_by_key


@require_POST
def removal(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """Take the ticked documents of a query out of its pool."""
    member = access.lead(request.user, slug)
    query = collection_access.query(member, pk)
    with refusal_as_message(request):
        changed = remove_candidates(
            project=member.project,
            candidates=keys_of_query(request.POST.getlist("candidates"), query),
            reason=request.POST.get("reason", ""),
            by=member,
        ).changed
        words = (
            "%(n)d document was taken out." if changed == 1 else "%(n)d documents were taken out."
        )
        messages.success(request, words % {"n": changed})
    return redirect(reverse("annotate:query", args=[slug, pk]))


@require_GET
def removed(request: PageRequest, slug: str) -> HttpResponse:
    """List the candidates that were taken out of pools, with the reasons."""
    member = access.lead(request.user, slug)
    rows = removed_candidates(member.project).select_related("query", "document", "removed_by")
    page = page_by_key(rows, request.GET)
    return project_page(
        request,
        "pools/removed.html",
        member,
        section="pools",
        candidates=page.rows,
        page=page,
    )


@require_POST
def restoration(request: PageRequest, slug: str) -> HttpResponse:
    """Bring the ticked documents back into their pools."""
    member = access.lead(request.user, slug)
    with refusal_as_message(request):
        changed = restore_candidates(
            project=member.project,
            candidates=parse_keys(request.POST.getlist("candidates")),
            by=member,
        ).changed
        words = (
            "%(n)d document was brought back."
            if changed == 1
            else "%(n)d documents were brought back."
        )
        messages.success(request, words % {"n": changed})
    return redirect(reverse("annotate:removed_candidates", args=[slug]))
