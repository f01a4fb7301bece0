"""Pages for taking candidates out of pools and bringing them back."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from annotate.collection import access as collection_access
from annotate.collection.removal import parse_keys
from annotate.collection.views.removal import redirect_after_change
from annotate.pools import access
from annotate.pools.removal import (
    keys_of_query,
    remove_candidates,
    removed_candidates,
    restore_candidates,
)
from base.page_request import PageRequest
from base.pagination import page_by_key


@require_POST
def removal(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """Take the ticked documents of a query out of its pool."""
    member = access.lead(request.user, slug)
    query = collection_access.query(member, pk)
    return redirect_after_change(
        request,
        lambda: remove_candidates(
            project=member.project,
            candidates=keys_of_query(request.POST.getlist("candidates"), query),
            reason=request.POST.get("reason", ""),
            by=member,
        ),
        lambda n: ngettext("%(n)d document was taken out.", "%(n)d documents were taken out.", n),
        reverse("annotate:query", args=[slug, pk]),
    )


@require_GET
def removed(request: PageRequest, slug: str) -> HttpResponse:
    """List the candidates that were taken out of pools, with the reasons."""
    member = access.lead(request.user, slug)
    rows = removed_candidates(member.project).select_related("query", "document", "removed_by")
    page = page_by_key(rows, request.GET)
    return render(
        request,
        "pools/removed.html",
        {
            "project": member.project,
            "member": member,
            "section": "pools",
            "candidates": page.rows,
            "previous_url": page.previous,
            "next_url": page.next,
        },
    )


@require_POST
def restoration(request: PageRequest, slug: str) -> HttpResponse:
    """Bring the ticked documents back into their pools."""
    member = access.lead(request.user, slug)
    return redirect_after_change(
        request,
        lambda: restore_candidates(
            project=member.project,
            candidates=parse_keys(request.POST.getlist("candidates")),
            by=member,
        ),
        lambda n: ngettext(
            "%(n)d document was brought back.", "%(n)d documents were brought back.", n
        ),
        reverse("annotate:removed_candidates", args=[slug]),
    )
