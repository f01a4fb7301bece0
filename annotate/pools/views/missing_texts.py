"""Pages of the documents that people are asked to judge and that have no text."""

from __future__ import annotations

from django.http import HttpResponse
from django.views.decorators.http import require_GET

from annotate.pairs.pool import documents_without_text
from annotate.projects import access
from annotate.projects.project_page import project_page
from base.page_request import PageRequest
from base.pagination import page_by_key


@require_GET
def missing_texts(request: PageRequest, slug: str) -> HttpResponse:
    """List the documents to judge that have no text; `?show=pool` those of the whole pools."""
    member = access.lead(request.user, slug)
    whole_pool = request.GET.get("show") == "pool"
    without_text = documents_without_text(member.project, whole_pool=whole_pool)
    page = page_by_key(without_text, request.GET)
    return project_page(
        request,
        "pools/missing_texts.html",
        member,
        section="load",
        documents=page.rows,
        whole_pool=whole_pool,
        count=without_text.count() if page.previous or page.next else len(page.rows),
        page=page,
    )


@require_GET
def missing_texts_file(request: PageRequest, slug: str) -> HttpResponse:
    """Download the ids of these documents, one per line."""
    member = access.lead(request.user, slug)
    whole_pool = request.GET.get("show") == "pool"
    ids = documents_without_text(member.project, whole_pool=whole_pool).order_by("doc_id")
    lines = [f"{doc_id}\n" for doc_id in ids.values_list("doc_id", flat=True)]
    response = HttpResponse(lines, content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-missing-texts.txt"'
    return response
