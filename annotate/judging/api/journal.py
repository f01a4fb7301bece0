"""The endpoint for the browser's journal: judging pages send their entries when they can.

Session-authenticated. Returns a status for each entry.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from django.contrib.auth.decorators import login_not_required
from django.db import OperationalError
from django.http import Http404, HttpRequest, JsonResponse

from annotate.judging.actions import record_flag, record_grade
from annotate.judging.journal_entries import (
    Entry,
    FlagEntry,
    GradeEntry,
    RegisteredEntry,
    SavedEntry,
    UndoEntry,
    Unreadable,
    parse_entries,
    parse_entry,
    user_of,
    uuid_of,
)
from annotate.judging.statement import Recorded, target_by_number
from annotate.judging.withdrawal import withdraw
from annotate.pairs import access
from annotate.pairs.models import InstructionPair
from annotate.projects.models import Membership
from base.api.limits import MAX_BODY
from base.api.problems import unavailable_problem
from base.errors import Refused
from base.users import User
from jobs.unavailable import is_full


class EntryStatus(NamedTuple):
    """The status of one journal entry.

    `state`: `saved` (it is in the database; `sentence` may hold a warning), `refused` (`sentence`
    says why; nothing changed) or `foreign` (another person's entry; nothing changed).
    """

    uuid: str | None
    state: str
    at: datetime | None
    sentence: str


@login_not_required
def journal(request: HttpRequest) -> JsonResponse:
    """Save a page's journal entries: grades, flags, checks, ratings, decisions, withdrawals.

    Entries are saved in the order received, each on its own, and each only once however often it
    is sent. A statement under a narrative that has a newer version by now is saved under the
    version that was read. Returns 200 with a status for each entry, in order; 400 if the body is
    not a list of entries, 413 if it has too many bytes, 503 if the database cannot save them now.
    Without a session it returns 401 and never redirects to a page: the browser keeps the entries.
    """
    if not isinstance(request.user, User):
        return _problem(401, "Sign in; until then your answers are kept in your browser.")
    if request.method != "POST":
        return _problem(405, "Send entries with POST.")
    length = request.META.get("CONTENT_LENGTH") or "0"
    if not length.isdecimal() or int(length[:20]) > MAX_BODY:
        return _problem(413, f"At most {MAX_BODY:,} bytes are accepted at once.")
    known: dict[int, tuple[Membership, InstructionPair]] = {}
    try:
        entries = parse_entries(request.body)
        answers = [_save_entry(entry, request.user, known) for entry in entries]
    except Unreadable as unreadable:
        return _problem(400, str(unreadable))
    except (OperationalError, OSError) as error:
        if not is_full(error) and not isinstance(error, OperationalError):
            raise
        return _problem(503, **unavailable_problem(error))
    return JsonResponse({"answers": [answer._asdict() for answer in answers]})


def _problem(status: int, detail: str, **more: str) -> JsonResponse:
    return JsonResponse({"detail": detail, **more}, status=status)


def _save_entry(
    sent: Any, person: User, known: dict[int, tuple[Membership, InstructionPair]]
) -> EntryStatus:
    """Save one entry; `known`: the pairs already looked up for earlier entries."""
    uuid = uuid_of(sent)
    user = user_of(sent)
    if user is not None and user != person.pk:
        return EntryStatus(uuid, "foreign", None, "")
    try:
        entry = parse_entry(sent)
        at, warning = _save(entry, person, known)
    except Refused as refused:
        return EntryStatus(uuid, "refused", None, str(refused))
    except Http404 as missing:
        return EntryStatus(uuid, "refused", None, str(missing))
    return EntryStatus(uuid, "saved", at, warning)


def _save(
    entry: Entry, person: User, known: dict[int, tuple[Membership, InstructionPair]]
) -> SavedEntry:
    if isinstance(entry, RegisteredEntry):
        return entry.save(by=person)
    if entry.pair not in known:
        known[entry.pair] = access.pair(person, entry.pair)
    row, warning = _record(entry, *known[entry.pair])
    return SavedEntry(row.at, warning)


def _record(
    entry: GradeEntry | FlagEntry | UndoEntry, by: Membership, pair: InstructionPair
) -> Recorded:
    target = target_by_number(pair, entry.narrative, entry.candidate, by, entry.text_version)
    if isinstance(entry, GradeEntry):
        return record_grade(
            target=target,
            relevance=entry.relevance,
            note=entry.note,
            evidence=entry.evidence,
            clauses=entry.clauses,
            verdicts=entry.verdicts,
            active_ms=entry.active_ms,
            pressed=entry.pressed,
            made_at=entry.made_at,
            uuid=entry.uuid,
            instead_of=entry.instead_of,
            late=True,
            by=by,
        )
    if isinstance(entry, FlagEntry):
        return record_flag(
            target=target,
            kind=entry.flag,
            words=entry.words,
            made_at=entry.made_at,
            uuid=entry.uuid,
            instead_of=entry.instead_of,
            late=True,
            by=by,
        )
    return withdraw(uuid=entry.undoes, pair=pair, by=by)
