"""Taking back a judgment, a flag or the answer to a repeat: what it had replaced stands again."""

from __future__ import annotations

import uuid as uuids
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate.collection import text_versions
from annotate.judging.history import ENDED, end, ended_at, given_way_to, stands, was_withdrawn
from annotate.judging.lookup import look_up
from annotate.judging.statement import INSTANT, NO_TEXT, On, Recorded
from annotate.judgments import assignments, judgment_chain
from annotate.judgments.models import Flag, Judgment, Repeat
from annotate.pairs.models import Assignment, InstructionPair, Narrative
from annotate.projects import access as projects_access
from annotate.projects import chain
from annotate.projects.models import Membership
from base.errors import Refused


def withdraw(
    *, uuid: uuids.UUID, pair: InstructionPair, by: Membership, now: datetime | None = None
) -> Recorded:
    """Take back the judgment, the flag or the answer to a repeat of `by` that has this UUID.

    Doing it twice changes nothing. Refused: what is not here, or not theirs; what came from a file.
    """
    projects_access.refuse_if_archived(by.project)
    with transaction.atomic():
        assignments.hold(pair=pair, task=Assignment.Task.JUDGE, by=by)
        mine = {"uuid": uuid, "annotator": by, "narrative__pair": pair}
        row: Judgment | Flag | Repeat | None = (
            Judgment.objects.filter(**mine).first()
            or Flag.objects.filter(**mine).first()
            or Repeat.objects.filter(**mine).first()
        )
        if row is None:
            raise Refused(_("What was to be taken back is not here: it was not saved."))
        text_versions.lock_text(row.candidate_id)
        return _withdraw(row, pair, by, now or timezone.now())


def undo(
    *, narrative: Narrative, by: Membership, now: datetime | None = None
) -> Judgment | Flag | Repeat:
    """Take back the latest judgment, flag or answer to a repeat of `by` that stands under
    `narrative`; return it.

    Again and again, this goes back as far as there is anything. Refused when there is nothing.
    """
    projects_access.refuse_if_archived(by.project)
    with transaction.atomic():
        assignments.hold(pair=narrative.pair, task=Assignment.Task.JUDGE, by=by)
        mine = {"narrative": narrative, "annotator": by}
        judgments = Judgment.objects.current().filter(**mine, source=Judgment.Source.PAGE)
        standing = [
            judgments.order_by("-at", "-pk").first(),
            Flag.objects.current().filter(**mine).order_by("-at", "-pk").first(),
            Repeat.objects.current().filter(**mine).order_by("-at", "-pk").first(),
        ]
        last = max((row for row in standing if row), key=lambda row: row.at, default=None)
        if last is None:
            raise Refused(_("There is nothing to take back here."))
        text_versions.lock_text(last.candidate_id)
        _withdraw(last, narrative.pair, by, now or timezone.now())
    return last


def _newer_stands() -> str:
    return _("You had said something newer of this document meanwhile. It stands.")


def _withdraw(
    row: Judgment | Flag | Repeat, pair: InstructionPair, by: Membership, now: datetime
) -> Recorded:
    """Take a statement out of its chain, under the lock on the assignment."""
    if was_withdrawn(row):
        return Recorded(row)
    if isinstance(row, Judgment) and row.source != Judgment.Source.PAGE:
        raise Refused(_("This came from a file, and cannot be taken back here."))
    ended, before = ended_at(row), given_way_to(row)
    moment = max(now, row.at + INSTANT, *([ended + INSTANT] if ended else []))
    changed: dict[str, Any] = {ENDED[type(row)]: moment}
    if not isinstance(row, Flag):
        changed["withdrawn_at"] = moment
    if isinstance(row, Judgment):
        # It gives up the place it took as well: another one may take it.
        changed["replaces"] = None
    type(row)._default_manager.filter(pk=row.pk).update(**changed)
    if isinstance(row, Judgment):
        Judgment.objects.filter(replaces=row.pk).update(replaces=row.replaces_id)
    if ended is not None:
        if before is not None and not isinstance(before, Repeat):
            end(before, ended)
        _link_ends([row, before], pair, by)
        return Recorded(row, _newer_stands())
    if before is not None and not stands(row):
        end(before, None)
    _link_ends([row, before], pair, by)
    _settle(row, pair, by, moment)
    return Recorded(row)


def _link_ends(
    rows: Iterable[Judgment | Flag | Repeat | None], pair: InstructionPair, by: Membership
) -> None:
    """Put into the assignment's chain since when these no longer stand, or that they stand
    again.
    """
    changed = {f"k{row.pk}": row.pk for row in rows if isinstance(row, Judgment)}
    if not changed:
        return
    among = ", ".join(f"%({name})s" for name in changed)
    found = list(judgment_chain.rows(f"j.id IN ({among})", changed, order="j.id", texts=True))
    links = chain.of_assignment(pair.pair_id, by.name)
    # The assignment's lock keeps others from its chain.
    end = chain.end_of(by.project_id, links)
    chain.append(by.project_id, links, judgment_chain.events_of_ended(found), after=end)


def _settle(
    row: Judgment | Flag | Repeat, pair: InstructionPair, by: Membership, now: datetime
) -> None:
    """Record anew whether anything is left to do in the assignment, after a statement was taken
    back.
    """
    text = NO_TEXT if row.text_version is None else row.text_version
    on = On(pair, row.narrative_id, row.candidate_id, isinstance(row, Repeat), text)
    place = look_up(on, by, row.uuid, now)
    settled = (place.judgment is not None and not place.asked) or (
        place.flag is not None and place.flag.says != Flag.Kind.LATER
    )
    place.settle_assignment(on, by, settled=settled)
