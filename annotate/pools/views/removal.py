"""The list of documents that are taken out of pools."""

from __future__ import annotations

from django.http import HttpResponse
from django.views.decorators.http import require_GET

from annotate.pools import access
from annotate.pools.removal import DOCUMENTS
from annotate.projects.project_page import project_page
from base.page_request import PageRequest
from base.pagination import page_by_key


@require_GET
def removed(request: PageRequest, slug: str) -> HttpResponse:
    """List the documents that were taken out of pools, with the reasons."""
    member = access.lead(request.user, slug)
    rows = DOCUMENTS.removed(member.project).select_related("query", "document", "removed_by")
    page = page_by_key(rows, request.GET)
    return project_page(
        request,
        "pools/removed.html",
        member,
        section="pools",
        candidates=page.rows,
        page=page,
    )
