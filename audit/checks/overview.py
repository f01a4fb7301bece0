"""What checks add to the home and project pages: labels that wait for this person."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Exists, OuterRef, Q
from django.urls import reverse
from django.utils.translation import gettext as _

from annotate.overview.contributions import Contribution, Todo
from annotate.projects.kinds import kind_of
from annotate.projects.models import Membership
from audit.checks.models import Check, SampleItem
from audit.checks.queue import count_to_check, count_to_settle


def contribution(member: Membership) -> Contribution:
    """Labels this person could check, and those on which two others differ: leads have these in
    the queue of disagreements.
    """
    where = reverse("audit:checks", args=[member.project.slug])
    waiting = Todo(_("Labels to check"), count_to_check(member), where)
    if member.leads:
        return Contribution(todo=(waiting,), details=lambda: _sampled(member))
    settling = Todo(_("Checked labels to settle"), count_to_settle(member), where)
    return Contribution(todo=(waiting, settling))


def _sampled(member: Membership) -> dict[str, Any]:
    """How many labels are sampled, and how many of them two people checked: one query, where the
    kind of project has the step.
    """
    if "check" not in kind_of(member.project.kind).steps:
        return {}
    said = Check.objects.current().filter(item=OuterRef("pk"))
    both = Exists(said.filter(place=1)) & Exists(said.filter(place=2))
    counted: dict[str, Any] = SampleItem.objects.filter(
        sample__project=member.project_id, narrative__pair__removed_at__isnull=True
    ).aggregate(sampled=Count("pk"), checked=Count("pk", filter=Q(both)))
    return counted
