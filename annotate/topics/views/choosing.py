"""Choosing topics on the page of the queries."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.humanize.templatetags.humanize import intcomma

from annotate.collection.removal import ChangeCounts, parse_keys
from annotate.pairs.pool import documents_without_text
from annotate.projects.models import Membership, Project
from annotate.topics import choosing
from annotate.topics.forms import DrawForm
from base.errors import Refused
from base.page_request import PageRequest

# The maximum number of topics listed for choosing by hand.
LISTED = 1_000


def choosing_context(request: PageRequest, member: Membership, error: str = "") -> dict[str, Any]:
    """Return what the list of queries shows while topics are chosen: the draw, or the ticks.

    `?number=` previews a draw. `error` says why what was sent is refused.
    """
    by_hand = _is_by_hand(request)
    is_submitted = "number" in request.GET or (request.method == "POST" and not by_hand)
    form = DrawForm((request.POST or request.GET) if is_submitted else None)
    listed = choosing.topics(member.project)
    drawn: list[choosing.Topic] = []
    if request.method == "GET" and is_submitted and form.is_valid():
        cleaned = form.cleaned_data
        try:
            drawn = choosing.draw(listed, form.conditions, cleaned["number"], cleaned["seed"])
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
        return choosing.choose_topics(
            project=member.project,
            queries=parse_keys(request.POST.getlist("queries")),
            reason=request.POST.get("reason", ""),
            by=member,
        )
    if not form.is_valid():
        return None
    return choosing.draw_topics(
        project=member.project,
        conditions=form.conditions,
        number=form.cleaned_data["number"],
        seed=form.cleaned_data["seed"],
        by=member,
    )


def _report(request: PageRequest, project: Project, changed: ChangeCounts) -> None:
    if not changed.changed:
        messages.info(request, "All topics are chosen, so none was taken out.")
        return
    messages.success(
        request,
        (
            f"The topics are chosen: {changed.changed} other query was taken out."
            if changed.changed == 1
            else f"The topics are chosen: {changed.changed} other queries were taken out."
        ),
    )
    if missing := documents_without_text(project).count():
        words = (
            "%(shown)s document to judge has no text yet. Load files lists it."
            if missing == 1
            else "%(shown)s documents to judge have no text yet. Load files lists them."
        )
        messages.warning(request, words % {"shown": intcomma(missing)})
