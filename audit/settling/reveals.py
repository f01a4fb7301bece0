"""Revealing who gave which answer in a disagreement; each reveal is recorded."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from annotate.collection.models import Candidate
from annotate.pairs.models import Narrative
from annotate.projects import access as assignments
from annotate.projects.audit_log import record
from annotate.projects.models import Membership
from audit.checks.models import SampleItem
from audit.settling.models import Reveal
from base.errors import Refused


def reveal_names(
    *,
    narrative: Narrative,
    by: Membership,
    candidate: Candidate | None = None,
    item: SampleItem | None = None,
    now: datetime | None = None,
) -> Reveal:
    """Record that `by` looks up names: the reviewers of a narrative; with `candidate`, its judges;
    with `item`, the checkers of that label. Repeating changes nothing. Refused: not a lead.
    """
    if not by.leads or by.project_id != narrative.pair.project_id:
        raise Refused("Only leads of this project can reveal names.")
    assignments.refuse_if_archived(by.project)
    if item is not None:
        narrative, candidate = item.narrative, item.candidate
    with transaction.atomic():
        # After a double click, the second request waits here and then finds the first one's row.
        Membership.objects.select_for_update().get(pk=by.pk)
        revealed, made = Reveal.objects.get_or_create(
            narrative=narrative,
            candidate=candidate,
            item=item,
            by=by,
            defaults={"at": now or timezone.now()},
        )
        if made:
            whose = candidate.document if candidate is not None else "its reviewers"
            record(
                project=by.project,
                what="names.revealed",
                about=revealed,
                named=f"{narrative.pair} · {narrative} · {whose}",
                by=by,
                now=now,
            )
    return revealed
