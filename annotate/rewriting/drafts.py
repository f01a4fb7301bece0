"""Drafts: what someone is writing and has not saved as a version yet.

Several pages of one person may write the same draft, one of them offline for an hour. The newest
writing counts. What another page wrote at the same time, without having seen it, is stored in
`Draft.overtaken` until the writer has read it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import uuid4

from django.db import transaction
from django.utils import timezone

from annotate.collection.models import Candidate
from annotate.judgments import assignments
from annotate.pairs.condition_lines import MAX_LINES, MAX_TEXT
from annotate.pairs.condition_lines import write as write_conditions
from annotate.pairs.models import Assignment, InstructionPair, Narrative
from annotate.projects import access as projects_access
from annotate.projects.models import Membership
from annotate.rewriting.models import MAX_NARRATIVE, TOO_LONG, Draft
from base.errors import Refused, refuse_invalid_characters, refuse_longer
from base.texts import tidy

MAX_NOTE = 500
MAX_CONDITIONS = MAX_LINES * MAX_TEXT
# How many overtaken writings a draft keeps; no more pages than these write one draft at once.
MOST_OVERTAKEN = 5
# What is typed, of a draft as of a writing.
WORDS = ("text", "note", "conditions", "based_on", "drops")


@dataclass(frozen=True)
class Writing:
    """What is typed on a page: the narrative, the note and the conditions.

    `place` is the open page, and `turn` when it writes, in milliseconds of its browser's clock.
    `based_on` is the version that it was begun from; `drops` are the candidates (by key) that would
    drop out. `seen`: the writings that this page has loaded and continues from, as place -> turn.
    """

    place: str
    turn: int
    text: str
    note: str = ""
    conditions: str = ""
    based_on: int = 0
    drops: Sequence[int] = ()
    seen: Mapping[str, int] = field(default_factory=dict)


def save_draft(
    *,
    pair: InstructionPair,
    side: str,
    writing: Writing,
    by: Membership,
    now: datetime | None = None,
) -> Draft | None:
    """Store what is on a page as the draft of `by`, and return the draft that counts now.

    None: there is nothing to store, because the words are those of the current version. The same
    writing sent twice, or late, changes nothing. Refused: too long, not text, no rewrite
    assignment.
    """
    now = now or timezone.now()
    projects_access.refuse_if_archived(by.project)
    writing = _clean(pair, side, writing)
    with transaction.atomic():
        pair = InstructionPair.objects.select_for_update().get(pk=pair.pk, project=by.project_id)
        refuse_unless_writer(pair=pair, by=by)
        current = pair.current(side)
        draft = Draft.objects.filter(pair=pair, side=side, member=by).first()
        baseline = current or pair.written_from(side)
        has_words = _has_own_words(writing, current, baseline)
        if not has_words and (not writing.drops or _is_saved(writing, current)):
            if draft is None or not _has_seen(draft, writing) or draft.overtaken:
                return draft
            draft.delete()
            return None
        if draft is None:
            draft = Draft(pair=pair, side=side, member=by)
        elif not _resolve_conflict(draft, writing):
            return draft
        _write(draft, writing, now)
        draft.save()
        if has_words:
            # Work has begun, so the assignment is not given to somebody else meanwhile.
            by.assignments.filter(
                pair=pair, task=Assignment.Task.REWRITE, touched_at__isnull=True
            ).update(touched_at=now)
    return draft


def take_overtaken(
    *,
    pair: InstructionPair,
    side: str,
    which: str,
    by: Membership,
    now: datetime | None = None,
) -> Draft:
    """Make overtaken words the draft again; those that were the draft become overtaken.

    `which` is their `id` in `Draft.overtaken`. Refused if there are no such words any more.
    """
    now = now or timezone.now()
    with transaction.atomic():
        draft, chosen = _lock_overtaken(pair, side, which, by)
        draft.overtaken = [*_without(draft.overtaken, which), _as_stored(draft, draft.saved_at)]
        words = {name: chosen[name] for name in WORDS}
        turn = max(draft.turn + 1, int(now.timestamp() * 1000))
        _write(draft, Writing(place=str(uuid4()), turn=turn, **words), now)
        draft.save()
    return draft


def drop_overtaken(*, pair: InstructionPair, side: str, which: str, by: Membership) -> Draft:
    """Delete overtaken words: the writer has read them."""
    with transaction.atomic():
        draft, _ = _lock_overtaken(pair, side, which, by)
        draft.overtaken = _without(draft.overtaken, which)
        draft.save(update_fields=["overtaken"])
    return draft


def discard_draft(*, pair: InstructionPair, side: str, by: Membership) -> None:
    """Discard the draft, so that the page shows the current version again. Twice is harmless.

    Overtaken words that nobody has read stay. Refused: in an archived project.
    """
    projects_access.refuse_if_archived(by.project)
    with transaction.atomic():
        locked = Draft.objects.select_for_update()
        draft = locked.filter(pair=pair, side=side, member=by).first()
        if draft is not None:
            _delete_or_reset(draft, pair.current(side) or pair.written_from(side))


def end_draft(*, narrative: Narrative, by: Membership) -> None:
    """End the draft that became this version. Overtaken words that nobody has read stay."""
    draft = Draft.objects.filter(pair=narrative.pair_id, side=narrative.side, member=by).first()
    if draft is not None:
        _delete_or_reset(draft, narrative)


def refuse_unless_writer(*, pair: InstructionPair, by: Membership) -> None:
    """Refuse removed pairs, and members who neither lead nor hold the rewrite assignment."""
    if not by.leads and not assignments.holds(pair=pair, task=Assignment.Task.REWRITE, by=by):
        raise Refused(assignments.NOT_YOURS)
    if pair.removed_at is not None:
        raise Refused("This instruction was removed, so its narrative stays as it is.")


def _clean(pair: InstructionPair, side: str, writing: Writing) -> Writing:
    if side not in {Narrative.Side.ALTERED, Narrative.Side.REVERSED}:
        raise Refused("Only the altered and the reversed narrative can have drafts.")
    text, note, conditions = tidy(writing.text), writing.note.strip(), tidy(writing.conditions)
    refuse_longer(text, MAX_NARRATIVE, TOO_LONG)
    refuse_longer(
        note, MAX_NOTE, "The note has %(length)s characters; at most %(most)s are allowed."
    )
    refuse_longer(
        conditions,
        MAX_CONDITIONS,
        "The conditions have %(length)s characters; at most %(most)s are allowed.",
    )
    for value in (text, note, conditions):
        # Odd characters are refused only in a version; a draft just has to be storable.
        refuse_invalid_characters(value, before=value)
    drops = Candidate.objects.filter(query=pair.query_id, pk__in=writing.drops)
    kept = tuple(sorted(drops.values_list("pk", flat=True))) if writing.drops else ()
    return replace(writing, text=text, note=note, conditions=conditions, drops=kept)


def _has_own_words(writing: Writing, current: Narrative | None, baseline: Narrative | None) -> bool:
    """Return whether the page has words that are not in the current version or its source."""
    if current is None:
        same = not writing.text or (baseline is not None and baseline.text.strip() == writing.text)
        return not same or bool(writing.note or writing.conditions)
    conditions = write_conditions(current.condition_lines())
    if current.text != writing.text or conditions != writing.conditions:
        return True
    return bool(writing.note) and not _is_saved(writing, current)


def _is_saved(writing: Writing, current: Narrative | None) -> bool:
    """Return whether the page began before the current version, which may be what it saved."""
    return current is not None and writing.based_on < current.version


def _has_seen(draft: Draft, writing: Writing) -> bool:
    """Return whether the page had seen the draft when it wrote."""
    return draft.place == writing.place or writing.seen.get(draft.place, -1) >= draft.turn


def _resolve_conflict(draft: Draft, writing: Writing) -> bool:
    """Return whether the words replace the draft's; store as overtaken those that would be lost."""
    if draft.place == writing.place and writing.turn <= draft.turn:
        return False
    incoming = _as_stored(writing, timezone.now())
    same = all(
        incoming[name] == getattr(draft, name) for name in ("text", "note", "conditions", "drops")
    )
    if same or _has_seen(draft, writing):
        # What this page writes now includes what it wrote before.
        draft.overtaken = [text for text in draft.overtaken if text["place"] != writing.place]
        return True
    newer = writing.turn > draft.turn
    loser = _as_stored(draft, draft.saved_at) if newer else incoming
    places = {loser["place"], writing.place}
    others = [text for text in draft.overtaken if text["place"] not in places]
    draft.overtaken = [*others, loser][-MOST_OVERTAKEN:]
    if not newer:
        draft.save(update_fields=["overtaken"])
    return newer


def _write(draft: Draft, writing: Writing, now: datetime) -> None:
    for name in ("place", "turn", *WORDS):
        setattr(draft, name, getattr(writing, name))
    draft.drops, draft.saved_at = list(writing.drops), now


def _delete_or_reset(draft: Draft, baseline: Narrative | None) -> None:
    """Delete a draft; one with overtaken words is reset to the current words instead."""
    if not draft.overtaken:
        draft.delete()
        return
    # A first version starts without the conditions of what it is written from.
    current = baseline if baseline is not None and baseline.side == draft.side else None
    draft.text, draft.note, draft.drops = baseline.text if baseline else "", "", []
    draft.conditions = write_conditions(current.condition_lines()) if current else ""
    draft.based_on = current.version if current else 0
    draft.save()


def _as_stored(words: Draft | Writing, at: datetime) -> dict[str, Any]:
    """Return words as `Draft.overtaken` has them."""
    return {
        "id": f"{words.place}:{words.turn}",
        "place": words.place,
        "turn": words.turn,
        "saved_at": at.isoformat(),
        **{name: getattr(words, name) for name in WORDS},
        "drops": list(words.drops),
    }


def _lock_overtaken(
    pair: InstructionPair, side: str, which: str, by: Membership
) -> tuple[Draft, dict[str, Any]]:
    projects_access.refuse_if_archived(by.project)
    locked = Draft.objects.select_for_update()
    draft = locked.filter(pair=pair, side=side, member=by).first()
    for text in draft.overtaken if draft else []:
        if draft is not None and text["id"] == which:
            return draft, text
    raise Refused("This text is no longer here: it was already discarded or restored.")


def _without(overtaken: Iterable[dict[str, Any]], which: str) -> list[dict[str, Any]]:
    return [text for text in overtaken if text["id"] != which]
