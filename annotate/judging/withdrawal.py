"""Withdraw a judgment, a flag or the answer to a repeat, and restore what it had superseded."""

from __future__ import annotations

import uuid as uuids
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotate.collection import text_versions
from annotate.judging.history import end_statement, find_superseded, has_current
from annotate.judging.lookup import look_up
from annotate.judging.statement import INSTANT, NO_TEXT, Recorded, Target
from annotate.judgments import assignments, judgment_chain
from annotate.judgments.models import Flag, Judgment, Repeat
from annotate.pairs.models import Assignment, InstructionPair, Narrative
from annotate.projects import access as projects_access
from annotate.projects import hash_chain
from annotate.projects.models import Membership
from base.errors import Refused


def withdraw(
    *, uuid: uuids.UUID, pair: InstructionPair, by: Membership, now: datetime | None = None
) -> Recorded:
    """Withdraw the judgment, the flag or the answer to a repeat of `by` that has this UUID.

    Idempotent. Refused: a statement that does not exist, belongs to someone else or came from a
    file.
    """
    projects_access.refuse_if_archived(by.project)
    with transaction.atomic():
        assignments.lock(pair=pair, task=Assignment.Task.JUDGE, by=by)
        mine = {"uuid": uuid, "annotator": by, "narrative__pair": pair}
        row: Judgment | Flag | Repeat | None = (
            Judgment.objects.filter(**mine).first()
            or Flag.objects.filter(**mine).first()
            or Repeat.objects.filter(**mine).first()
        )
        if row is None:
            raise Refused("The answer to take back was not found: it was not saved.")
        text_versions.lock_text(row.candidate_id)
        return _withdraw(row, pair, by, now or timezone.now())


def undo(
    *, narrative: Narrative, by: Membership, now: datetime | None = None
) -> Judgment | Flag | Repeat:
    """Withdraw and return the latest current judgment, flag or answer to a repeat of `by` under
    `narrative`.

    Each further call withdraws the one before. Refused when there is none.
    """
    projects_access.refuse_if_archived(by.project)
    with transaction.atomic():
        assignments.lock(pair=narrative.pair, task=Assignment.Task.JUDGE, by=by)
        mine = {"narrative": narrative, "annotator": by}
        judgments = Judgment.objects.current().filter(**mine, source=Judgment.Source.PAGE)
        current = [
            judgments.order_by("-at", "-pk").first(),
            Flag.objects.current().filter(**mine).order_by("-at", "-pk").first(),
            Repeat.objects.current().filter(**mine).order_by("-at", "-pk").first(),
        ]
        last = max((row for row in current if row), key=lambda row: row.at, default=None)
        if last is None:
            raise Refused("There is nothing to take back here.")
        text_versions.lock_text(last.candidate_id)
        _withdraw(last, narrative.pair, by, now or timezone.now())
    return last


def _newer_answer_message() -> str:
    return "You have given a newer answer to this document. The newer answer counts."


def _withdraw(
    row: Judgment | Flag | Repeat, pair: InstructionPair, by: Membership, now: datetime
) -> Recorded:
    """Withdraw a statement and relink its neighbours; the caller holds the assignment's lock."""
    if row.withdrawn_at is not None:
        return Recorded(row)
    if isinstance(row, Judgment) and row.source != Judgment.Source.PAGE:
        raise Refused("This came from a file and cannot be taken back here.")
    ended, before = row.ended_at, find_superseded(row)
    moment = max(now, row.at + INSTANT, *([ended + INSTANT] if ended else []))
    changed: dict[str, Any] = {"ended_at": moment, "withdrawn_at": moment}
    if isinstance(row, Judgment):
        # `replaces` is unique: free its value for the judgment that follows.
        changed["replaces"] = None
    type(row)._default_manager.filter(pk=row.pk).update(**changed)
    if isinstance(row, Judgment):
        Judgment.objects.filter(replaces=row.pk).update(replaces=row.replaces_id)
    if ended is not None:
        if before is not None and not isinstance(before, Repeat):
            end_statement(before, ended)
        _link_ends([row, before], pair, by)
        return Recorded(row, _newer_answer_message())
    if before is not None and not has_current(row):
        end_statement(before, None)
    _link_ends([row, before], pair, by)
    _update_assignment(row, pair, by, moment)
    return Recorded(row)


def _link_ends(
    rows: Iterable[Judgment | Flag | Repeat | None], pair: InstructionPair, by: Membership
) -> None:
    """Append to the assignment's chain when these judgments ended, or that they are current
    again.
    """
    changed = {f"k{row.pk}": row.pk for row in rows if isinstance(row, Judgment)}
    if not changed:
        return
    among = ", ".join(f"%({name})s" for name in changed)
    ended = list(judgment_chain.rows(f"j.id IN ({among})", changed, order="j.id"))
    links = hash_chain.of_assignment(pair.pair_id, by.name)
    # The lock on the assignment guards its chain too.
    last = hash_chain.end_of(by.project_id, links)
    hash_chain.append(by.project_id, links, judgment_chain.events_of_ended(ended), after=last)


def _update_assignment(
    row: Judgment | Flag | Repeat, pair: InstructionPair, by: Membership, now: datetime
) -> None:
    """Update whether the assignment is done, after a statement was withdrawn."""
    text = NO_TEXT if row.text_version is None else row.text_version
    target = Target(pair, row.narrative_id, row.candidate_id, isinstance(row, Repeat), text)
    state = look_up(target, by, row.uuid, now)
    settled = (state.judgment is not None and not state.has_rejudge_request) or (
        state.flag is not None and state.flag.answer != Flag.Kind.LATER
    )
    state.update_assignment(target, by, settled=settled)
