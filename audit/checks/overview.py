"""What checks add to the home and project pages: labels that wait for this person."""

from __future__ import annotations

from django.urls import reverse
from django.utils.translation import gettext as _

from annotate.overview.contributions import Contribution, Todo
from annotate.projects.models import Membership
from audit.checks.queue import count_to_check, count_to_settle


def contribution(member: Membership) -> Contribution:
    """Labels this person could check, and those on which two others differ: leads have these in
    the queue of disagreements.
    """
    where = reverse("audit:checks", args=[member.project.slug])
    waiting = Todo(_("Labels to check"), count_to_check(member), where)
    if member.leads:
        return Contribution(todo=(waiting,))
    settling = Todo(_("Checked labels to settle"), count_to_settle(member), where)
    return Contribution(todo=(waiting, settling))
