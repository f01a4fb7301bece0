"""Drafts: what someone is writing and has not saved as a version yet.

Several pages of one person may write the same draft, one of them offline for an hour. The newest
writing counts. What another page wrote at the same time, without having seen it, is stored in
`Draft.overtaken` until the writer has read it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import uuid4

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate.collection.models import Candidate
from annotate.judgments import assignments
from annotate.pairs.condition_lines import MAX_TEXT, MOST
from annotate.pairs.condition_lines import write as write_conditions
from annotate.pairs.models import Assignment, InstructionPair, Narrative
from annotate.projects import access as projects_access
from annotate.projects.models import Membership
from annotate.rewriting.models import Draft
from base.control_characters import tidy
from base.errors import Refused, refuse_strange

# The limit of annotate.rewriting.actions, which refuses a longer text as a version.
MAX_TEXT_LENGTH = 100_000
MAX_NOTE = 500
MAX_CONDITIONS = MOST * MAX_TEXT
# How many overtaken writings a draft keeps; no more pages than these write one draft at once.
MOST_OVERTAKEN = 5


@dataclass(frozen=True)
class Words:
    """What is typed on a page: the narrative, the note and the conditions.

    `based_on` is the version that it was begun from; `drops` are the candidates (by key) that would
    drop out.
    """

    text: str
    note: str = ""
    conditions: str = ""
    based_on: int = 0
    drops: tuple[int, ...] = ()


@dataclass(frozen=True)
class Page:
    """The open page that writes (`place`), and when (`turn`: milliseconds of its browser's clock).

    `seen`: the writings that this page has loaded and continues from, as place -> turn.
    """

    place: str
    turn: int
    seen: Mapping[str, int] = field(default_factory=dict)


def save_draft(
    *,
    pair: InstructionPair,
    side: str,
    words: Words,
    page: Page,
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
    words = _checked(pair, side, words)
    with transaction.atomic():
        pair = InstructionPair.objects.select_for_update().get(pk=pair.pk, project=by.project_id)
        may_write(pair=pair, by=by)
        current = pair.current(side)
        found = Draft.objects.filter(pair=pair, side=side, member=by).first()
        standing = current or pair.written_from(side)
        if _says_nothing(words, current, standing):
            if found is None or not _goes_on(found, page) or found.overtaken:
                return found
            found.delete()
            return None
        if found is None:
            found = Draft(pair=pair, side=side, member=by)
        elif not _write_over(found, words, page):
            return found
        _fill(found, words, page, now)
        found.save()
        if standing is None or standing.text.strip() != words.text:
            # Work has begun, so the assignment is not given to somebody else meanwhile.
            by.assignments.filter(
                pair=pair, task=Assignment.Task.REWRITE, touched_at__isnull=True
            ).update(touched_at=now)
    return found


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
        found, chosen = _overtaken(pair, side, which, by)
        put_by = _as_stored(found)
        found.overtaken = [*_without(found.overtaken, which), put_by]
        words = Words(
            chosen["text"],
            chosen["note"],
            chosen["conditions"],
            chosen["based_on"],
            tuple(chosen["drops"]),
        )
        _fill(found, words, Page(str(uuid4()), max(found.turn + 1, _milliseconds(now))), now)
        found.save()
    return found


def drop_overtaken(*, pair: InstructionPair, side: str, which: str, by: Membership) -> Draft:
    """Delete overtaken words: the writer has read them."""
    with transaction.atomic():
        found, _ = _overtaken(pair, side, which, by)
        found.overtaken = _without(found.overtaken, which)
        found.save(update_fields=["overtaken"])
    return found


def discard_draft(*, pair: InstructionPair, side: str, by: Membership) -> None:
    """Discard the draft, so that the page shows the current version again. Twice is harmless.

    Overtaken words that nobody has read stay. Refused: in an archived project.
    """
    projects_access.refuse_if_archived(by.project)
    with transaction.atomic():
        locked = Draft.objects.select_for_update()
        found = locked.filter(pair=pair, side=side, member=by).first()
        if found is not None:
            _let_go(found, pair.current(side) or pair.written_from(side))


def finish(*, narrative: Narrative, by: Membership) -> None:
    """End the draft that became this version. Overtaken words that nobody has read stay."""
    found = Draft.objects.filter(pair=narrative.pair_id, side=narrative.side, member=by).first()
    if found is not None:
        _let_go(found, narrative)


def may_write(*, pair: InstructionPair, by: Membership) -> None:
    """Refuse removed pairs, and members who neither lead nor hold the rewrite assignment."""
    if not by.leads and not assignments.holds(pair=pair, task=Assignment.Task.REWRITE, by=by):
        raise Refused(_("This is not your task. Take one from your list, then go on."))
    if pair.removed_at is not None:
        raise Refused(_("This instruction was removed, so its narrative stays as it is."))


def _checked(pair: InstructionPair, side: str, words: Words) -> Words:
    if side not in {Narrative.Side.ALTERED, Narrative.Side.REVERSED}:
        raise Refused(_("Only the altered and the reversed narrative can have drafts."))
    text, note, conditions = tidy(words.text), words.note.strip(), tidy(words.conditions)
    if len(text) > MAX_TEXT_LENGTH:
        raise Refused(
            _("The narrative has %(text)s characters; at most %(max_text_length)s are allowed.")
            % {"text": f"{len(text):,}", "max_text_length": f"{MAX_TEXT_LENGTH:,}"}
        )
    if len(note) > MAX_NOTE:
        raise Refused(
            _("The note has %(note)s characters; at most %(max_note)s are allowed.")
            % {"note": f"{len(note):,}", "max_note": MAX_NOTE}
        )
    if len(conditions) > MAX_CONDITIONS:
        raise Refused(
            _(
                "The conditions have %(conditions)s characters; at most %(max_conditions)s are "
                "allowed."
            )
            % {"conditions": f"{len(conditions):,}", "max_conditions": f"{MAX_CONDITIONS:,}"}
        )
    for value in (text, note, conditions):
        # Odd characters are refused only in a version; a draft just has to be storable.
        refuse_strange(value, before=value)
    drops = Candidate.objects.filter(query=pair.query_id, pk__in=words.drops)
    kept = tuple(sorted(drops.values_list("pk", flat=True))) if words.drops else ()
    return Words(text, note, conditions, words.based_on, kept)


def _says_nothing(words: Words, current: Narrative | None, standing: Narrative | None) -> bool:
    """Return whether the page has nothing that is not in the current version or its source.

    This also holds if the version was saved from this page and the page's draft arrives later.
    """
    if current is None:
        same = not words.text or (standing is not None and standing.text.strip() == words.text)
        return same and not (words.note or words.conditions or words.drops)
    conditions = write_conditions(current.conditions.order_by("number").values_list("name", "text"))
    if current.text != words.text or conditions != words.conditions:
        return False
    return words.based_on < current.version or not (words.note or words.drops)


def _goes_on(found: Draft, page: Page) -> bool:
    """Return whether the page had seen the draft when it wrote."""
    return found.place == page.place or page.seen.get(found.place, -1) >= found.turn


def _write_over(found: Draft, words: Words, page: Page) -> bool:
    """Return whether the words replace the draft's; store as overtaken those that would be lost."""
    if found.place == page.place and page.turn <= found.turn:
        return False
    incoming = _as_stored_words(words, page.place, page.turn, timezone.now())
    same = all(
        incoming[name] == getattr(found, name) for name in ("text", "note", "conditions", "drops")
    )
    if same or _goes_on(found, page):
        # What this page writes now includes what it wrote before.
        found.overtaken = [one for one in found.overtaken if one["place"] != page.place]
        return True
    newer = page.turn > found.turn
    loser = _as_stored(found) if newer else incoming
    others = [one for one in found.overtaken if one["place"] not in {loser["place"], page.place}]
    found.overtaken = [*others, loser][-MOST_OVERTAKEN:]
    if not newer:
        found.save(update_fields=["overtaken"])
    return newer


def _fill(found: Draft, words: Words, page: Page, now: datetime) -> None:
    found.text, found.note, found.conditions = words.text, words.note, words.conditions
    found.based_on, found.drops = words.based_on, list(words.drops)
    found.place, found.turn, found.saved_at = page.place, page.turn, now


def _let_go(found: Draft, standing: Narrative | None) -> None:
    """Delete a draft; one with overtaken words is reset to the current words instead."""
    if not found.overtaken:
        found.delete()
        return
    same_side = standing is not None and standing.side == found.side
    conditions = (
        standing.conditions.order_by("number").values_list("name", "text")
        if standing is not None and same_side
        else ()
    )
    found.text, found.note, found.drops = standing.text if standing else "", "", []
    found.conditions = write_conditions(conditions)
    found.based_on = standing.version if standing is not None and same_side else 0
    found.save()


def _as_stored(found: Draft) -> dict[str, Any]:
    words = Words(found.text, found.note, found.conditions, found.based_on, tuple(found.drops))
    return _as_stored_words(words, found.place, found.turn, found.saved_at)


def _as_stored_words(words: Words, place: str, turn: int, at: datetime) -> dict[str, Any]:
    return {
        "id": f"{place}:{turn}",
        "place": place,
        "turn": turn,
        "saved_at": at.isoformat(),
        "text": words.text,
        "note": words.note,
        "conditions": words.conditions,
        "based_on": words.based_on,
        "drops": list(words.drops),
    }


def _overtaken(
    pair: InstructionPair, side: str, which: str, by: Membership
) -> tuple[Draft, dict[str, Any]]:
    projects_access.refuse_if_archived(by.project)
    locked = Draft.objects.select_for_update()
    found = locked.filter(pair=pair, side=side, member=by).first()
    for one in found.overtaken if found else []:
        if found is not None and one["id"] == which:
            return found, one
    raise Refused(_("This text is no longer here: it was already discarded or restored."))


def _without(overtaken: Iterable[dict[str, Any]], which: str) -> list[dict[str, Any]]:
    return [one for one in overtaken if one["id"] != which]


def _milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
