"""What this room adds to the project page of leads."""

from __future__ import annotations

from annotate.models import Membership
from annotate.screens.overview import Contribution
from exporters.models import Export

NEWEST = 3


def contribution(member: Membership) -> Contribution:
    """The newest exports."""
    if not member.leads:
        return Contribution()
    newest = (
        Export.objects.filter(project=member.project_id)
        .select_related("by", "project")
        .defer("manifest")
        .order_by("-pk")
    )
    return Contribution(context={"exports": list(newest[:NEWEST])})
