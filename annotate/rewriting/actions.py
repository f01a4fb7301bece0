"""Rewriting narratives: every change inserts a version, and a lead can go back to an earlier."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotate.collection.answers import describe_under
from annotate.judgments import assignments
from annotate.judgments.blindness import may_see
from annotate.pairs import condition_lines
from annotate.pairs.condition_lines import MAX_LINES, MAX_TEXT, InvalidLines, Line
from annotate.pairs.models import Assignment, Condition, InstructionPair, Narrative
from annotate.projects import access as projects_access
from annotate.projects.audit_log import record
from annotate.projects.models import Membership
from annotate.rewriting import drafts
from annotate.rewriting.models import MAX_NARRATIVE, TOO_LONG
from base.errors import Refused, Stale, Unconfirmed, refuse_invalid_characters, refuse_longer
from base.texts import tidy


def stale_answers(narrative: Narrative | None, reader: Membership) -> str:
    """Describe the answers that become stale when another version replaces this one, or "".

    "24 judgments, 3 flags"; always "" for readers who may not know whether others answered.
    """
    if narrative is None or not may_see(reader, narrative.pair):
        return ""
    return describe_under([narrative.pk])


def _refuse_unconfirmed(narrative: Narrative | None, confirmed: str, by: Membership) -> None:
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
        answers = describe_under([current.pk])
        if confirmed is not None:
            _refuse_unconfirmed(current, confirmed, by)
        same_side = pair.narratives.filter(side=narrative.side)
        later = same_side.in_use().filter(version__gt=narrative.version)
        later.update(is_current=False, withdrawn_at=now, withdrawn_by=by)
        same_side.filter(pk=narrative.pk).update(withdrawn_at=None, withdrawn_by=None)
        same_side.choose_current()
        assignments.update_ends(project=pair.project, held=pair.assignments.all(), now=now)
        _log_replacement(
            what="narrative.returned", before=current, after=narrative, answers=answers, by=by
        )
    return Narrative.objects.select_related("pair__project", "author").get(pk=narrative.pk)


def _log_replacement(
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


class ConditionsRefused(Refused):
    """Raised if the conditions are refused, not the narrative."""


def rewrite_narrative(
    *,
    pair: InstructionPair,
    text: str,
    by: Membership,
    based_on: int,
    side: str = Narrative.Side.ALTERED,
    note: str = "",
    conditions: str | None = None,
    confirmed: str | None = None,
    now: datetime | None = None,
) -> Narrative:
    """Insert the next version of a narrative with its conditions, and return it.

    `based_on` is the version that the author started from (0: none); Stale if another was saved
    since. `conditions` are lines as `annotate.pairs.condition_lines` reads them; None keeps those
    of the previous version. `confirmed` describes the answers that become stale, as
    `versions.stale_answers` does; Unconfirmed if they are others; None requires no confirmation.
    Refused: no words, no change, too long, no rewrite assignment (leads need none); wrong
    conditions raise ConditionsRefused. The author's draft ends. A new altered narrative also gives
    the pair's judges and auditors work again, because they answered for other words, and ends the
    work in every rewrite assignment of the pair, whoever holds it.
    """
    now = now or timezone.now()
    projects_access.refuse_if_archived(by.project)
    text = _checked_text(text, side)
    new_conditions = None if conditions is None else read_conditions(conditions)
    with transaction.atomic():
        pair = InstructionPair.objects.select_for_update().get(pk=pair.pk, project=by.project_id)
        if pair.removed_at is not None:
            raise Refused("This instruction was removed, so its narrative stays as it is.")
        if not by.leads:
            assignments.lock(pair=pair, task=Assignment.Task.REWRITE, by=by)
        current = pair.current(side)
        version = current.version if current else 0
        if version != based_on:
            happened = (
                f"Version {version} was saved while you were writing."
                if version > based_on
                else f"A lead went back to version {version} while you were writing."
            )
            raise Stale(
                f"{happened} Your text is still here: compare it with that version, then save "
                "again."
            )
        previous = current or pair.written_from(side)
        refuse_invalid_characters(text, previous.text if previous else "")
        old_conditions = [] if current is None else current.condition_lines()
        new_conditions = old_conditions if new_conditions is None else new_conditions
        if previous is not None and previous.text == text and new_conditions == old_conditions:
            raise Refused("Nothing has changed yet, so there is no new version to save.")
        answers = describe_under([current.pk]) if current else ""
        if confirmed is not None:
            _refuse_unconfirmed(current, confirmed, by)
        narrative = _insert(
            new_conditions,
            pair=pair,
            side=side,
            version=_next_version(pair, side),
            text=text,
            note=note,
            author=by,
            created_at=now,
        )
        drafts.end_draft(narrative=narrative, by=by)
        if side == Narrative.Side.ALTERED:
            assignments.reopen(pair=pair, tasks=(Assignment.Task.JUDGE, Assignment.Task.REVIEW))
            assignments.end_rewriting(pair=pair, by=by, now=now)
        else:
            assignments.begin_work(pair=pair, task=Assignment.Task.REWRITE, by=by, now=now)
        if current is not None:
            _log_replacement(
                what="narrative.replaced", before=current, after=narrative, answers=answers, by=by
            )
    return narrative


def _next_version(pair: InstructionPair, side: str) -> int:
    """Return the number of a side's next version; those of withdrawn versions stay taken."""
    numbers = pair.narratives.filter(side=side).values_list("version", flat=True)
    return max(numbers, default=0) + 1


def _checked_text(text: str, side: str) -> str:
    """Return the text of a new version as it is stored, or refuse it."""
    text = tidy(text)
    if side not in {Narrative.Side.ALTERED, Narrative.Side.REVERSED}:
        raise Refused(
            "Only the altered and reversed narratives can be rewritten; the original stays."
        )
    if not text:
        raise Refused("The narrative is empty. Write what is relevant now.")
    refuse_longer(text, MAX_NARRATIVE, TOO_LONG)
    return text


def _insert(conditions: Sequence[Line], **version: Any) -> Narrative:
    """Insert a version with its conditions."""
    narrative = Narrative.objects.create(**version)
    Condition.objects.bulk_create(
        Condition(narrative=narrative, number=number, name=line.name, text=line.text)
        for number, line in enumerate(conditions, 1)
    )
    return narrative


def read_conditions(text: str) -> list[Line]:
    """Parse conditions as they were typed, or raise ConditionsRefused."""
    try:
        refuse_invalid_characters(tidy(text))
        return condition_lines.read(text)
    except Refused as refused:
        raise ConditionsRefused(str(refused)) from refused
    except InvalidLines as wrong:
        raise ConditionsRefused(_error_message(wrong)) from wrong


def _error_message(wrong: InvalidLines) -> str:
    """Return the error message for conditions that are refused."""
    if wrong.other:
        return f"Line {wrong.line} says the same as line {wrong.other}. Remove one of them."
    if wrong.line:
        return (
            f"The condition on line {wrong.line} has {wrong.length:,} characters; at most "
            f"{MAX_TEXT:,} are allowed."
        )
    return (
        f"There are {wrong.length} conditions; at most {MAX_LINES} are allowed. Each judge "
        "answers all of them for every document."
    )


def send_back(
    *, pair: InstructionPair, by: Membership, reason: str = "", now: datetime | None = None
) -> InstructionPair:
    """Ask for a new version of the altered narrative: its rewrite assignment has work again.

    `reason`: "" if a decision on its reviews has it.
    """
    now = now or timezone.now()
    with transaction.atomic():
        pair = lock_for_lead(pair, by)
        narrative = pair.current(Narrative.Side.ALTERED)
        if narrative is None:
            raise Refused("There is no altered narrative yet that could be sent back.")
        _mark_sent_back(narrative, at=now, by=by, reason=reason)
        assignments.reopen(pair=pair, tasks=(Assignment.Task.REWRITE,))
    return pair


def remove(
    *, pair: InstructionPair, by: Membership, now: datetime | None = None
) -> InstructionPair:
    """Take a pair out of the work and out of every export. Its rows stay."""
    now = now or timezone.now()
    with transaction.atomic():
        pair = lock_for_lead(pair, by)
        if pair.removed_at is None:
            pair.removed_at, pair.removed_by = now, by
            pair.save(update_fields=["removed_at", "removed_by"])
    return pair


def undo_decision(*, pair: InstructionPair, by: Membership) -> InstructionPair:
    """Undo `send_back` and `remove`; a pair that was taken out with a reason stays out, and so does
    one whose query was taken out.
    """
    with transaction.atomic():
        pair = lock_for_lead(pair, by)
        narrative = pair.current(Narrative.Side.ALTERED)
        if narrative is not None:
            _mark_sent_back(narrative)
        if not pair.removed_reason:
            for name in ("removed_at", "removed_by", "removed_reason"):
                setattr(pair, name, getattr(pair.query, name))
            pair.save(update_fields=["removed_at", "removed_by", "removed_reason"])
    return pair


def _mark_sent_back(
    narrative: Narrative,
    *,
    at: datetime | None = None,
    by: Membership | None = None,
    reason: str = "",
) -> None:
    """Mark a version as sent back, or without arguments as not sent back."""
    narrative.sent_back_at, narrative.sent_back_by, narrative.sent_back_reason = at, by, reason
    narrative.save(update_fields=["sent_back_at", "sent_back_by", "sent_back_reason"])


def lock_for_lead(pair: InstructionPair, by: Membership) -> InstructionPair:
    """Return the pair, locked, if `by` leads its project."""
    if not by.leads or by.project_id != pair.project_id:
        raise Refused("Only leads of this project can do that.")
    projects_access.refuse_if_archived(by.project)
    return InstructionPair.objects.select_for_update().get(pk=pair.pk)
