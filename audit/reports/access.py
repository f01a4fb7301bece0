"""Access from a request to reports: the row, or a 404 or 403."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied

from annotate.judgments import access as judgments_access
from annotate.judgments import blindness
from annotate.projects import access
from annotate.projects.access import Person
from annotate.projects.models import Membership
from audit.reports.models import AgreementReport
from base.requests import row_or_404

BLIND = (
    "You have judging or reviewing left in this project, and agreement would reveal what others "
    "answered. Finish it, or release a task that you have not begun, then look here again."
)


def computed_report(user: Person, slug: str, pk: int) -> tuple[Membership, AgreementReport]:
    """Return a report of a project that the person leads, with its figures, or raise Http404 or
    PermissionDenied, also for a lead who is still blind.
    """
    member = access.lead(user, slug)
    report = row_or_404(
        AgreementReport.objects.select_related("project").filter(project=member.project_id),
        pk,
        "There is no such report in this project.",
    )
    if blindness.must_answer_first(member):
        raise PermissionDenied(BLIND)
    return member, report


def unblinded_lead(user: Person, slug: str) -> Membership:
    """Return a lead who may read everybody's answers, or raise Http404 or PermissionDenied."""
    return judgments_access.unblinded_lead(user, slug, BLIND)
