"""Notices of disagreements to settle, for leads."""

from __future__ import annotations

from collections.abc import Sequence

from django.urls import reverse
from django.utils.translation import gettext as _

from annotate.overview.notices import Notice
from annotate.projects.models import Membership
from audit.settling.open_counts import count_open, newest_open


def notices(members: Sequence[Membership]) -> dict[int, list[Notice]]:
    """Disagreements that each of these members could settle, and since when the newest is one."""
    leads = [member for member in members if member.leads]
    counts = count_open(leads)
    found = {}
    for lead in leads:
        if counts[lead.pk] and (at := newest_open(lead)) is not None:
            url = reverse("audit:disagreements", args=[lead.project.slug])
            text = _("Disagreements to settle")
            found[lead.pk] = [Notice(lead.project, "disputes", text, counts[lead.pk], at, url)]
    return found
