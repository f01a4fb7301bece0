"""Withdraw a statement, and restore the one that it had superseded."""

from __future__ import annotations

import uuid as uuids
from collections.abc import Iterable
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from annotate.collection import text_versions
from annotate.judging.history import find_superseded
from annotate.judging.lookup import look_up
from annotate.judging.statement import INSTANT, NO_TEXT, Recorded, Target
from annotate.judgments import assignments, judgment_chain
from annotate.judgments.models import Statement
from annotate.pairs.models import Assignment, InstructionPair, Narrative
from annotate.projects import access as projects_access
from annotate.projects import hash_chain
from annotate.projects.models import Membership
from base.errors import Refused


def withdraw(
    *, uuid: uuids.UUID, pair: InstructionPair, by: Membership, now: datetime | None = None
) -> Recorded:
    """Withdraw the statement of `by` that has this UUID.

    Idempotent. Refused: a statement that does not exist, belongs to someone else or came from a
    file.
    """
    projects_access.refuse_if_archived(by.project)
    with transaction.atomic():
        assignments.lock(pair=pair, task=Assignment.Task.JUDGE, by=by)
        row = Statement.objects.filter(uuid=uuid, annotator=by, narrative__pair=pair).first()
        if row is None:
            raise Refused("The answer to take back was not found: it was not saved.")
        text_versions.lock_text(row.candidate_id)
        return _withdraw(row, pair, by, now or timezone.now())


def undo(*, narrative: Narrative, by: Membership, now: datetime | None = None) -> Statement:
    """Withdraw and return the latest current statement of `by` under `narrative`.

    Each further call withdraws the one before. Refused when there is none.
    """
    projects_access.refuse_if_archived(by.project)
    with transaction.atomic():
        assignments.lock(pair=narrative.pair, task=Assignment.Task.JUDGE, by=by)
        current = Statement.objects.current().filter(
            narrative=narrative, annotator=by, source=Statement.Source.PAGE
        )
        last = current.order_by("-at", "-pk").first()
        if last is None:
            raise Refused("There is nothing to take back here.")
        text_versions.lock_text(last.candidate_id)
        _withdraw(last, narrative.pair, by, now or timezone.now())
    return last


def _newer_answer_message() -> str:
    return "You have given a newer answer to this document. The newer answer counts."


def _withdraw(row: Statement, pair: InstructionPair, by: Membership, now: datetime) -> Recorded:
    """Withdraw a statement and relink its neighbours; the caller holds the assignment's lock."""
    if row.withdrawn_at is not None:
        return Recorded(row)
    if row.source != Statement.Source.PAGE:
        raise Refused("This came from a file and cannot be taken back here.")
    ended, before = row.ended_at, find_superseded(row)
    moment = max(now, row.at + INSTANT, *([ended + INSTANT] if ended else []))
    # `replaces` is unique: its value goes to the statement that follows.
    Statement.objects.filter(pk=row.pk).update(ended_at=moment, withdrawn_at=moment, replaces=None)
    Statement.objects.filter(replaces=row.pk).update(replaces=row.replaces_id)
    if before is not None:
        # Ends when the one that follows began, or is current again.
        Statement.objects.filter(pk=before.pk).update(ended_at=ended)
    _link_ends([row, before], pair, by)
    if ended is not None:
        return Recorded(row, _newer_answer_message())
    _update_assignment(row, pair, by, moment)
    return Recorded(row)


def _link_ends(rows: Iterable[Statement | None], pair: InstructionPair, by: Membership) -> None:
    """Append to the assignment's chain when these judgments ended, or that they are current
    again.
    """
    changed = {f"k{row.pk}": row.pk for row in rows if row is not None and row.is_judgment}
    if not changed:
        return
    among = ", ".join(f"%({name})s" for name in changed)
    ended = list(judgment_chain.rows(f"j.id IN ({among})", changed, order="j.id"))
    links = hash_chain.of_assignment(pair.pair_id, by.name)
    # The lock on the assignment guards its chain too.
    last = hash_chain.end_of(by.project_id, links)
    hash_chain.append(by.project_id, links, judgment_chain.events_of_ended(ended), after=last)


def _update_assignment(
    row: Statement, pair: InstructionPair, by: Membership, now: datetime
) -> None:
    """Update whether the assignment is done, after a statement was withdrawn."""
    text = NO_TEXT if row.text_version is None else row.text_version
    target = Target(pair, row.narrative_id, row.candidate_id, row.repeat, text)
    state = look_up(target, by, row.uuid, now)
    state.update_assignment(target, by, settled=state.is_settled)
