"""The page on which topics are chosen."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.humanize.templatetags.humanize import intcomma
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from annotate.collection.removal import ChangeCounts, parse_keys
from annotate.pairs.pool import documents_without_text
from annotate.projects import access
from annotate.projects.models import Membership, Project
from annotate.projects.project_page import project_page
from annotate.topics import choosing
from annotate.topics.forms import DrawForm
from base.errors import Refused
from base.page_request import PageRequest

# The maximum number of topics listed for choosing by hand.
LISTED = 1_000


@require_http_methods(["GET", "POST"])
def topics(request: PageRequest, slug: str) -> HttpResponse:
    """Preview a draw (`?number=`) and keep its topics, or keep the topics that are ticked."""
    member = access.lead(request.user, slug)
    sent = request.POST.getlist("queries")
    by_hand = bool(sent) or "by_hand" in request.POST
    is_submitted = "number" in request.GET or (request.method == "POST" and not by_hand)
    form = DrawForm((request.POST or request.GET) if is_submitted else None)
    error = ""
    if request.method == "POST":
        try:
            changed = _keep_topics(request, member, None if by_hand else form)
        except Refused as refused:
            error = str(refused)
        else:
            if changed is not None:
                _report(request, member.project, changed)
                return redirect("annotate:queries", slug)
    listed = choosing.topics(member.project)
    drawn: set[int] = set()
    drawn_ids: list[str] = []
    if request.method == "GET" and is_submitted and form.is_valid():
        cleaned = form.cleaned_data
        try:
            rows = choosing.draw(listed, form.conditions, cleaned["number"], cleaned["seed"])
        except Refused as refused:
            error = str(refused)
        else:
            drawn = {topic.pk for topic in rows}
            drawn_ids = [topic.query_id for topic in rows]
    return project_page(
        request,
        "topics/topics.html",
        member,
        section="queries",
        form=form,
        error=error,
        count=len(listed),
        topics=listed[:LISTED] if len(listed) <= LISTED else [],
        eligible=sum(topic.meets(form.conditions) for topic in listed) if drawn else None,
        drawn=drawn,
        drawn_ids=drawn_ids,
        ticked={topic.pk for topic in listed if str(topic.pk) in sent} if by_hand else drawn,
        reason=request.POST.get("reason", ""),
        status=422 if request.method == "POST" else 200,
    )


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
