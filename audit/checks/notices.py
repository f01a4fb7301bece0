"""Notices of labels to check."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Max
from django.urls import reverse

from annotate.overview.notices import Notice
from annotate.projects.models import Membership
from audit.checks.models import Sample
from audit.checks.queue import waiting_to_check


def notices(members: Sequence[Membership]) -> dict[int, list[Notice]]:
    """Return notices of labels that each member could check, dated by the newest sample; each
    leads to the first of them.
    """
    waiting = waiting_to_check(members)
    rows = Sample.objects.filter(project__in=[one.project_id for one in members]).order_by()
    drawn = dict(rows.values_list("project").annotate(at=Max("created_at")))
    return {
        member.pk: [
            Notice(
                member.project,
                "to-check",
                "Labels to check",
                waiting[member.pk].number,
                max(member.joined_at, drawn[member.project_id]),
                reverse("audit:check", args=[first]),
            )
        ]
        for member in members
        if (first := waiting[member.pk].first) is not None
    }
