"""Notices of disagreements to settle, for leads."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db.models import Max
from django.urls import reverse
from django.utils.translation import gettext as _

from annotate.overview.notices import Notice
from annotate.projects.models import Membership
from audit.settling.disagreement_queries import source
from audit.settling.kinds.frame import Reader
from audit.settling.open_counts import count_open
from audit.settling.queue_filters import Kind, Wanted


def notices(members: Sequence[Membership]) -> dict[int, list[Notice]]:
    """Disagreements that each of these members could settle, and since when the newest is one."""
    leads = [member for member in members if member.leads]
    counts = count_open(leads)
    found = {}
    for lead in leads:
        if counts[lead.pk] and (at := _newest(lead)) is not None:
            url = reverse("audit:disagreements", args=[lead.project.slug])
            text = _("Disagreements to settle")
            found[lead.pk] = [Notice(lead.project, "disputes", text, counts[lead.pk], at, url)]
    return found


def _newest(lead: Membership) -> datetime | None:
    reader = Reader(lead)
    moments = [
        source(kind, reader, Wanted()).rows.order_by().aggregate(at=Max("since"))["at"]
        for kind in Kind
    ]
    return max((at for at in moments if at is not None), default=None)
