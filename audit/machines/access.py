"""Access from a request to a machine: the row, or a 404 or 403."""

from __future__ import annotations

from annotate.projects.access import Person
from annotate.projects.models import Membership
from audit.reports.access import unblinded_lead
from base.lookup import row_or_404


def machine_for_lead(user: Person, slug: str, pk: int) -> tuple[Membership, Membership]:
    """Return a lead who may see all answers and a machine of the project, or raise Http404 or
    PermissionDenied.
    """
    member = unblinded_lead(user, slug)
    machines = Membership.objects.select_related("project").filter(
        project=member.project_id, is_machine=True
    )
    return member, row_or_404(machines, pk, "There is no such machine in this project.")
