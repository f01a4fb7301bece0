"""Look up pools and related rows for leads who may see ranks; for others raise 404 or 403.

A lead who still has judging or reviewing to do is blind and may not see ranks.
"""

from __future__ import annotations

from django.core.exceptions import PermissionDenied

from annotate.collection.access import query as access_query
from annotate.collection.models import Candidate
from annotate.judgments.access import unblinded_lead
from annotate.judgments.blindness import must_answer_first
from annotate.pools.models import Pool, Replacement
from annotate.projects import access
from annotate.projects.access import Person
from annotate.projects.models import Membership
from base.requests import row_or_404

BLIND = (
    "You have judging or reviewing left in this project, and the ranks of documents could "
    "influence your answers. Finish it, or release a task that you have not begun, then look "
    "here again."
)


def lead(user: Person, slug: str) -> Membership:
    """Return the membership of a lead who may see ranks, or raise Http404 or PermissionDenied."""
    return unblinded_lead(user, slug, BLIND)


def pool(user: Person, slug: str, pk: int) -> tuple[Membership, Pool]:
    """Return a pool for a lead who may see ranks, or raise Http404 or PermissionDenied."""
    member = access.lead(user, slug)
    candidate_pool = row_or_404(
        Pool.objects.select_related("project", "by").filter(project=member.project_id),
        pk,
        "There is no such pool in this project.",
    )
    if must_answer_first(member):
        raise PermissionDenied(BLIND)
    return member, candidate_pool


def candidate(user: Person, slug: str, query: int, pk: int) -> tuple[Membership, Candidate]:
    """Return a candidate of a query for a lead who may see ranks, also one that was taken out.

    Raises Http404 or PermissionDenied.
    """
    member = lead(user, slug)
    pool = access_query(member, query)
    rows = Candidate.with_removed.select_related("query__project", "document")
    return member, row_or_404(
        rows.filter(query=pool), pk, "There is no such document in this pool."
    )


def replacement(user: Person, slug: str, pk: int) -> tuple[Membership, Replacement]:
    """Return a replacement for a lead who may see ranks, or raise Http404 or PermissionDenied."""
    member = lead(user, slug)
    return member, row_or_404(
        Replacement.objects.filter(project=member.project_id),
        pk,
        "There is no such replacement in this project.",
    )
