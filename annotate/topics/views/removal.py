"""The list of queries and instructions that are taken out."""

from __future__ import annotations

from django.http import HttpResponse
from django.views.decorators.http import require_GET

from annotate.collection.removal import MOST
from annotate.judgments.blindness import must_answer_first
from annotate.projects import access
from annotate.projects.project_page import project_page
from annotate.topics.filters import filter_counts
from annotate.topics.removal import INSTRUCTIONS, QUERIES
from base.page_request import PageRequest
from base.pagination import page_by_key


@require_GET
def removed(request: PageRequest, slug: str) -> HttpResponse:
    """List the queries and instructions that are taken out, with the reasons."""
    member = access.lead(request.user, slug)
    rows = QUERIES.removed(member.project).select_related("removed_by")
    page = page_by_key(rows, request.GET)
    pairs = INSTRUCTIONS.removed(member.project).select_related("query", "removed_by")
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
