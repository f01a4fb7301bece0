"""Replacing the current version of a narrative: the answers that become stale, and going back."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from annotate.judgments import assignments
from annotate.judgments.blindness import may_see
from annotate.judgments.narrative_answers import describe_answers
from annotate.pairs.models import InstructionPair, Narrative
from annotate.projects import access as projects_access
from annotate.projects.audit_log import record
from annotate.projects.models import Membership
from base.errors import Refused, Unconfirmed


def stale_answers(narrative: Narrative | None, reader: Membership) -> str:
    """Describe the answers that become stale when another version replaces this one, or "".

    "24 judgments, 3 settlements"; always "" for readers who may not know whether others answered.
    """
    if narrative is None or not may_see(reader, narrative.pair):
        return ""
    return describe_answers([narrative.pk])


def refuse_unconfirmed(narrative: Narrative | None, confirmed: str, by: Membership) -> None:
    """Raise Unconfirmed if `confirmed` is not what `stale_answers` says now."""
    answers = stale_answers(narrative, by)
    if narrative and answers != confirmed:
        raise Unconfirmed(
            f"{answers[:1].upper()}{answers[1:]} were given under version {narrative.version}. "
            "They stay with that version and become stale: they no longer count, and people are "
            f"asked again. To confirm this, send “{answers}” as “confirmed”."
            if answers
            else "The answers under this version have changed meanwhile. Look again."
        )


def go_back(
    *,
    narrative: Narrative,
    confirmed: str | None = None,
    by: Membership,
    now: datetime | None = None,
) -> Narrative:
    """Make an earlier or a withdrawn version of its side current again, and return it.

    Every later version is withdrawn: its answers are kept with it and no longer count; those of
    this version count again. `confirmed`: as in `rewrite_narrative`. Refused: a member who is not a
    lead, an archived project, a removed instruction, the current version.
    """
    now = now or timezone.now()
    if not by.leads or by.project_id != narrative.pair.project_id:
        raise Refused("Only leads of this project can go back to an earlier version.")
    projects_access.refuse_if_archived(by.project)
    with transaction.atomic():
        pair = InstructionPair.objects.select_for_update().get(pk=narrative.pair_id)
        if pair.removed_at is not None:
            raise Refused("This instruction was removed, so its narrative stays as it is.")
        current = pair.current(narrative.side)
        if current is None or current.pk == narrative.pk:
            raise Refused(f"Version {narrative.version} is the current version already.")
        answers = describe_answers([current.pk])
        if confirmed is not None:
            refuse_unconfirmed(current, confirmed, by)
        same_side = pair.narratives.filter(side=narrative.side)
        later = same_side.in_use().filter(version__gt=narrative.version)
        later.update(is_current=False, withdrawn_at=now, withdrawn_by=by)
        same_side.filter(pk=narrative.pk).update(withdrawn_at=None, withdrawn_by=None)
        same_side.choose_current()
        assignments.update_ends(pair=pair, now=now)
        log_replacement(
            what="narrative.returned", before=current, after=narrative, answers=answers, by=by
        )
    return Narrative.objects.select_related("pair__project", "author").get(pk=narrative.pk)


def log_replacement(
    *, what: str, before: Narrative, after: Narrative, answers: str, by: Membership
) -> None:
    """Record in the audit log that a version was replaced, and which answers became stale."""
    record(
        project=by.project,
        what=what,
        about=after,
        named=f"{before.pair.pair_id} · {after.side}",
        by=by,
        words=f"answers that became stale: {answers}" if answers else "",
        changes={"version": (before.version, after.version)},
    )
