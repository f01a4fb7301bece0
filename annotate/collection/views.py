"""Pages of the collection: passages, choosing topics, and what is taken out."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_GET, require_http_methods

from annotate.collection.forms import DrawForm, PassagesForm
from annotate.collection.passages import passage_rule_of, set_passage_rule
from annotate.collection.removal import INSTRUCTIONS, QUERIES, ChangeCounts, parse_keys
from annotate.collection.topics import (
    Topic,
    choose_topics,
    draw,
    draw_token,
    draw_topics,
    filter_counts,
    topics_of,
)
from annotate.judgments.blindness import must_answer_first
from annotate.pairs.pool import documents_without_text
from annotate.projects import access
from annotate.projects.access import lead
from annotate.projects.models import Membership, Project
from annotate.projects.project_page import project_page
from base.errors import Refused
from base.pagination import Page, page_by_key
from base.requests import PageRequest, refusal_in


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


# The maximum number of topics listed for choosing by hand.
LISTED = 1_000


def choosing_context(request: PageRequest, member: Membership, error: str = "") -> dict[str, Any]:
    """Return what the list of queries shows while topics are chosen: the draw, or the ticks.

    `?number=` previews a draw. `error` says why what was sent is refused.
    """
    by_hand = _is_by_hand(request)
    is_submitted = "number" in request.GET or (request.method == "POST" and not by_hand)
    form = DrawForm((request.POST or request.GET) if is_submitted else None)
    listed = topics_of(member.project)
    drawn: list[Topic] = []
    if request.method == "GET" and is_submitted and form.is_valid():
        cleaned = form.cleaned_data
        try:
            drawn = draw(listed, form.conditions, cleaned["number"], cleaned["seed"])
        except Refused as refused:
            error = str(refused)
    keys = {topic.pk for topic in drawn}
    sent = request.POST.getlist("queries")
    return {
        "form": form,
        "error": error,
        "count": len(listed),
        "topics": listed[:LISTED] if len(listed) <= LISTED else [],
        "eligible": sum(topic.meets(form.conditions) for topic in listed) if drawn else None,
        "drawn": keys,
        "token": draw_token(listed, drawn) if drawn else "",
        "drawn_ids": [topic.query_id for topic in drawn],
        "ticked": {topic.pk for topic in listed if str(topic.pk) in sent} if by_hand else keys,
        "reason": request.POST.get("reason", ""),
    }


def choose(request: PageRequest, member: Membership) -> dict[str, Any] | None:
    """Keep the ticked or drawn topics; return None, or what the page shows if it is refused."""
    form = None if _is_by_hand(request) else DrawForm(request.POST)
    try:
        changed = _keep_topics(request, member, form)
    except Refused as refused:
        return choosing_context(request, member, str(refused))
    if changed is None:
        return choosing_context(request, member)
    _report(request, member.project, changed)
    return None


def _is_by_hand(request: PageRequest) -> bool:
    return "queries" in request.POST or "by_hand" in request.POST


def _keep_topics(
    request: PageRequest, member: Membership, form: DrawForm | None
) -> ChangeCounts | None:
    """Keep the ticked topics, or draw those of a form; return None if the form is invalid."""
    if form is None:
        return choose_topics(
            project=member.project,
            queries=parse_keys(request.POST.getlist("queries")),
            reason=request.POST.get("reason", ""),
            by=member,
        )
    if not form.is_valid():
        return None
    return draw_topics(
        project=member.project,
        conditions=form.conditions,
        number=form.cleaned_data["number"],
        seed=form.cleaned_data["seed"],
        token=request.POST.get("token", ""),
        by=member,
    )


def _report(request: PageRequest, project: Project, changed: ChangeCounts) -> None:
    if not changed.changed:
        messages.info(request, "All topics are chosen, so none was taken out.")
        return
    others = "query was" if changed.changed == 1 else "queries were"
    messages.success(request, f"The topics are chosen: {changed.changed} other {others} taken out.")
    missing = documents_without_text(project).count()
    if missing == 1:
        messages.warning(request, "1 document to judge has no text yet. Load files lists it.")
    elif missing:
        words = f"{missing:,} documents to judge have no text yet. Load files lists them."
        messages.warning(request, words)


# How many instructions the list of queries that are taken out shows as well.
FIRST = 50


@require_GET
def removed(request: PageRequest, slug: str) -> HttpResponse:
    """List the queries and instructions that are taken out, with the reasons.

    Below the queries are the first instructions; `?show=instructions` lists all of these instead.
    """
    member = access.lead(request.user, slug)
    queries = QUERIES.removed(member.project).select_related("removed_by")
    pairs = INSTRUCTIONS.removed(member.project).select_related("query", "removed_by")
    alone = request.GET.get("show") == "instructions"
    page: Page[Any] = page_by_key(pairs if alone else queries, request.GET)
    shown = page.rows if alone else list(pairs.order_by("pk")[:FIRST])
    return project_page(
        request,
        "collection/removed.html",
        member,
        section="queries",
        queries=[] if alone else page.rows,
        pairs=shown,
        alone=alone,
        all_pairs=0 if alone or len(shown) < FIRST else pairs.count(),
        filters=filter_counts(member.project),
        # A reason may say how documents were judged.
        blind=must_answer_first(member),
        page=page,
    )
