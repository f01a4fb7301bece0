"""Take queries, instructions and documents out of a project, and bring them back."""

from __future__ import annotations

from collections.abc import Mapping

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from annotate.collection.removal import Removable, parse_keys
from annotate.pools import access as pool_access
from annotate.pools.removal import DOCUMENTS
from annotate.projects import access
from annotate.projects.models import Membership
from annotate.topics.removal import INSTRUCTIONS, QUERIES
from base.page_request import PageRequest, refusal_as_message

# The name of each kind in addresses and forms.
KINDS: Mapping[str, Removable] = {
    "queries": QUERIES,
    "instructions": INSTRUCTIONS,
    "documents": DOCUMENTS,
}


@require_POST
def removal(request: PageRequest, slug: str, kind: str) -> HttpResponse:
    """Take the ticked rows out."""
    removable, member = _removable(request, slug, kind)
    with refusal_as_message(request):
        changed = removable.remove(
            project=member.project,
            keys=parse_keys(request.POST.getlist(kind)),
            reason=request.POST.get("reason", ""),
            by=member,
        ).changed
        messages.success(request, f"{_count(removable, changed)} taken out.")
    return _redirect_back(request, slug, kind)


@require_POST
def restoration(request: PageRequest, slug: str, kind: str) -> HttpResponse:
    """Bring the ticked rows back."""
    removable, member = _removable(request, slug, kind)
    with refusal_as_message(request):
        changed = removable.restore(
            project=member.project, keys=parse_keys(request.POST.getlist(kind)), by=member
        ).changed
        messages.success(request, f"{_count(removable, changed)} brought back.")
    return _redirect_back(request, slug, kind)


def _removable(request: PageRequest, slug: str, kind: str) -> tuple[Removable, Membership]:
    if kind not in KINDS:
        raise Http404("Nothing of this kind is taken out.")
    removable = KINDS[kind]
    lead = pool_access.lead if removable.refused_while_blind else access.lead
    return removable, lead(request.user, slug)


def _count(removable: Removable, changed: int) -> str:
    return f"1 {removable.noun} was" if changed == 1 else f"{changed} {removable.nouns} were"


def _redirect_back(request: PageRequest, slug: str, kind: str) -> HttpResponse:
    """Redirect to the page that the request came from, else to the list of what is taken out."""
    back = request.POST.get("back", "")
    if url_has_allowed_host_and_scheme(back, allowed_hosts=None) and back.startswith("/"):
        return redirect(back)
    where = "removed_candidates" if kind == "documents" else "removed_queries"
    return redirect(f"annotate:{where}", slug)
