"""Fetch the releases that a person may see, or raise 404 or 403."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.http import Http404

from annotate.judgments.blindness import must_answer_first
from annotate.projects import access
from annotate.projects.access import Person
from annotate.projects.models import Membership
from base.requests import first_or_404
from exporters.exports.access import BLIND
from exporters.releases.models import Release


def release(user: Person, slug: str, name: str) -> tuple[Membership, Release]:
    """Return a release of a project the person leads, or raise Http404 or PermissionDenied.

    If there were several attempts under the name, return the newest: a finished one is the last.
    """
    member = access.lead(user, slug)
    return member, first_or_404(
        Release.objects.select_related("project", "by", "guideline")
        .filter(project=member.project_id, name=name)
        .order_by("-pk"),
        "There is no release of this name in this project.",
    )


def made_releases(user: Person, slug: str, *names: str) -> tuple[Membership, list[Release]]:
    """Return finished releases, in the order of `names`, for a lead who is no longer blind.

    Raises Http404 if one is missing or not finished, or PermissionDenied.
    """
    member = access.lead(user, slug)
    rows = Release.objects.made().select_related("project", "by", "guideline")
    releases = {row.name: row for row in rows.filter(project=member.project_id, name__in=names)}
    if not releases.keys() >= set(names):
        raise Http404("There is no release of this name in this project.")
    if must_answer_first(member):
        raise PermissionDenied(BLIND)
    return member, [releases[name] for name in names]
