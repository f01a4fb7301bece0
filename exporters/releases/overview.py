"""The newest exports and the newest release, for the project page of leads."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Any

from annotate.overview.contributions import Contribution
from annotate.projects.models import Membership, Project
from exporters.exports.models import Export
from exporters.releases.changes_since import changes_since
from exporters.releases.models import Release

NEWEST = 3


def contribution(members: Sequence[Membership]) -> dict[int, Contribution]:
    """Return the newest exports and the newest release of each lead's project, as details."""
    return {
        member.pk: Contribution(details=partial(_newest, member))
        for member in members
        if member.leads
    }


def releases_made(project: Project, since: datetime | None) -> list[str]:
    """Return the names of releases made since a time (None: all), in the order of their making."""
    made = Release.objects.made().filter(project=project)
    if since is not None:
        made = made.filter(at__gt=since)
    return list(made.order_by("pk").values_list("name", flat=True))


def _newest(member: Membership) -> dict[str, Any]:
    newest = (
        Export.objects.filter(project=member.project_id)
        .select_related("by", "project")
        .defer("manifest")
        .order_by("-pk")
    )
    released = Release.objects.made().filter(project=member.project_id)
    release = released.select_related("project").defer("manifest").order_by("-pk").first()
    return {
        "exports": list(newest[:NEWEST]),
        "release": release,
        "since_release": changes_since(member.project, release.at)
        if release and release.at
        else [],
    }
