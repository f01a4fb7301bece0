"""Look up the queries that a request may access; anything else is 404."""

from __future__ import annotations

from annotate.collection.models import Query
from annotate.projects.models import Membership
from base.requests import row_or_404


def query(member: Membership, pk: int) -> Query:
    """Return a query of the member's project, or raise Http404."""
    return row_or_404(
        Query.objects.select_related("project").filter(project=member.project_id),
        pk,
        "There is no such query in this project.",
    )
