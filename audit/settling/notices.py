"""Notices of disagreements to settle, for leads."""

from __future__ import annotations

from collections.abc import Sequence

from django.urls import reverse

from annotate.overview.notices import Notice
from annotate.projects.models import Membership
from audit.settling.open_counts import count_open_with_newest


def notices(members: Sequence[Membership]) -> dict[int, list[Notice]]:
    """Return a notice of the disagreements each lead can settle, with the newest one's time."""
    leads = [member for member in members if member.leads]
    counts = count_open_with_newest(leads)
    url = {lead.pk: reverse("audit:disagreements", args=[lead.project.slug]) for lead in leads}
    text = "Disagreements to settle"
    return {
        lead.pk: [Notice(lead.project, "disputes", text, number, newest, url[lead.pk])]
        for lead in leads
        for number, newest in (counts[lead.pk],)
        if number and newest is not None
    }
