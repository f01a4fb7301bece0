"""Look up the loads that a request may access; anything else is 404 or 403."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404

from annotate.loading.load_jobs import previews_of
from annotate.loading.models import Load
from annotate.projects.access import Person, lead
from annotate.projects.models import Membership
from base.requests import row_or_404


def load(user: Person, slug: str, pk: int) -> tuple[Membership, Load]:
    """Return an upload of a project that the user leads, or raise Http404 or PermissionDenied."""
    member = lead(user, slug)
    return member, row_or_404(
        Load.objects.select_related(
            "project", "preview", "confirmed_as__project", "by", "taken_back_by"
        ).filter(project=member.project_id),
        pk,
        "There is no such upload in this project.",
    )


def load_batch(user: Person, slug: str, batch: UUID) -> tuple[Membership, list[Load]]:
    """Return the previews of files that were uploaded together to a project that the user leads."""
    member = lead(user, slug)
    if not (previews := previews_of(member.project, batch)):
        raise Http404("There is no such upload in this project.")
    return member, previews
