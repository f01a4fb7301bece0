"""Taking queries and instructions out, and bringing them back."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from annotate.judgments.blindness import must_answer_first
from annotate.projects import access
from annotate.topics import removal
from annotate.topics.filters import filter_counts
from base.errors import Refused
from base.page_request import PageRequest
from base.pagination import page_by_key


@require_GET
def removed(request: PageRequest, slug: str) -> HttpResponse:
    """List what is taken out, with the reasons."""
    member = access.lead(request.user, slug)
    rows = removal.removed_queries(member.project).select_related("removed_by")
    page = page_by_key(rows, request.GET)
    pairs = removal.removed_pairs(member.project).select_related("query", "removed_by")
    return render(
        request,
        "topics/removed.html",
        {
            "project": member.project,
            "member": member,
            "section": "queries",
            "queries": page.rows,
            "pairs": pairs.order_by("pk")[: removal.MOST],
            "filters": filter_counts(member.project),
            # A reason may say how documents were judged.
            "blind": must_answer_first(member),
            "previous_url": page.previous,
            "next_url": page.next,
        },
    )


@require_POST
def query_removal(request: PageRequest, slug: str) -> HttpResponse:
    """Take the ticked queries out."""
    member = access.lead(request.user, slug)
    return _changed(
        request,
        slug,
        lambda: removal.remove_queries(
            project=member.project,
            queries=removal.keys_sent(request.POST.getlist("queries")),
            reason=request.POST.get("reason", ""),
            by=member,
        ),
        lambda n: ngettext("%(n)d query was taken out.", "%(n)d queries were taken out.", n),
    )


@require_POST
def query_restoration(request: PageRequest, slug: str) -> HttpResponse:
    """Bring the ticked queries back."""
    member = access.lead(request.user, slug)
    return _changed(
        request,
        slug,
        lambda: removal.restore_queries(
            project=member.project,
            queries=removal.keys_sent(request.POST.getlist("queries")),
            by=member,
        ),
        lambda n: ngettext("%(n)d query was brought back.", "%(n)d queries were brought back.", n),
    )


@require_POST
def pair_removal(request: PageRequest, slug: str) -> HttpResponse:
    """Take the ticked instructions out."""
    member = access.lead(request.user, slug)
    return _changed(
        request,
        slug,
        lambda: removal.remove_pairs(
            project=member.project,
            pairs=removal.keys_sent(request.POST.getlist("pairs")),
            reason=request.POST.get("reason", ""),
            by=member,
        ),
        lambda n: ngettext(
            "%(n)d instruction was taken out.", "%(n)d instructions were taken out.", n
        ),
    )


@require_POST
def pair_restoration(request: PageRequest, slug: str) -> HttpResponse:
    """Bring the ticked instructions back."""
    member = access.lead(request.user, slug)
    return _changed(
        request,
        slug,
        lambda: removal.restore_pairs(
            project=member.project,
            pairs=removal.keys_sent(request.POST.getlist("pairs")),
            by=member,
        ),
        lambda n: ngettext(
            "%(n)d instruction was brought back.", "%(n)d instructions were brought back.", n
        ),
    )


def _changed(
    request: PageRequest,
    slug: str,
    action: Callable[[], removal.Changed],
    words: Callable[[int], str],
) -> HttpResponse:
    """Do it, say what came of it, and go back to the page it was asked on."""
    try:
        changed = action().changed
    except Refused as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, words(changed) % {"n": changed})
    back = request.POST.get("back", "")
    if not url_has_allowed_host_and_scheme(back, allowed_hosts=None) or not back.startswith("/"):
        back = reverse("annotate:removed_queries", args=[slug])
    return redirect(back)
