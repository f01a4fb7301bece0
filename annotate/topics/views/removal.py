"""Take queries and instructions out, and bring them back."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_GET, require_POST

from annotate.collection.removal import MOST, parse_keys
from annotate.judgments.blindness import must_answer_first
from annotate.projects import access
from annotate.projects.project_page import project_page
from annotate.topics import removal
from annotate.topics.filters import filter_counts
from base.page_request import PageRequest, refusal_as_message
from base.pagination import page_by_key


@require_GET
def removed(request: PageRequest, slug: str) -> HttpResponse:
    """List the queries and instructions that are taken out, with the reasons."""
    member = access.lead(request.user, slug)
    rows = removal.removed_queries(member.project).select_related("removed_by")
    page = page_by_key(rows, request.GET)
    pairs = removal.removed_pairs(member.project).select_related("query", "removed_by")
    return project_page(
        request,
        "topics/removed.html",
        member,
        section="queries",
        queries=page.rows,
        pairs=pairs.order_by("pk")[:MOST],
        filters=filter_counts(member.project),
        # A reason may say how documents were judged.
        blind=must_answer_first(member),
        page=page,
    )


@require_POST
def query_removal(request: PageRequest, slug: str) -> HttpResponse:
    """Take the ticked queries out."""
    member = access.lead(request.user, slug)
    with refusal_as_message(request):
        changed = removal.remove_queries(
            project=member.project,
            queries=parse_keys(request.POST.getlist("queries")),
            reason=request.POST.get("reason", ""),
            by=member,
        ).changed
        words = "%(n)d query was taken out." if changed == 1 else "%(n)d queries were taken out."
        messages.success(request, words % {"n": changed})
    return redirect(_back(request, slug))


@require_POST
def query_restoration(request: PageRequest, slug: str) -> HttpResponse:
    """Bring the ticked queries back."""
    member = access.lead(request.user, slug)
    with refusal_as_message(request):
        changed = removal.restore_queries(
            project=member.project,
            queries=parse_keys(request.POST.getlist("queries")),
            by=member,
        ).changed
        words = (
            "%(n)d query was brought back." if changed == 1 else "%(n)d queries were brought back."
        )
        messages.success(request, words % {"n": changed})
    return redirect(_back(request, slug))


@require_POST
def pair_removal(request: PageRequest, slug: str) -> HttpResponse:
    """Take the ticked instructions out."""
    member = access.lead(request.user, slug)
    with refusal_as_message(request):
        changed = removal.remove_pairs(
            project=member.project,
            pairs=parse_keys(request.POST.getlist("pairs")),
            reason=request.POST.get("reason", ""),
            by=member,
        ).changed
        words = (
            "%(n)d instruction was taken out."
            if changed == 1
            else "%(n)d instructions were taken out."
        )
        messages.success(request, words % {"n": changed})
    return redirect(_back(request, slug))


@require_POST
def pair_restoration(request: PageRequest, slug: str) -> HttpResponse:
    """Bring the ticked instructions back."""
    member = access.lead(request.user, slug)
    with refusal_as_message(request):
        changed = removal.restore_pairs(
            project=member.project,
            pairs=parse_keys(request.POST.getlist("pairs")),
            by=member,
        ).changed
        words = (
            "%(n)d instruction was brought back."
            if changed == 1
            else "%(n)d instructions were brought back."
        )
        messages.success(request, words % {"n": changed})
    return redirect(_back(request, slug))


def _back(request: PageRequest, slug: str) -> str:
    """Return the page that the request came from, else the list of what is taken out."""
    back = request.POST.get("back", "")
    if url_has_allowed_host_and_scheme(back, allowed_hosts=None) and back.startswith("/"):
        return back
    return reverse("annotate:removed_queries", args=[slug])
