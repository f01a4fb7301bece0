"""The endpoint for the browser's journal: judging pages send their entries when they can.

Session-authenticated. Returns a status for each entry.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from django.contrib.auth.decorators import login_not_required
from django.db import OperationalError
from django.http import Http404, HttpRequest, JsonResponse

from annotate.judging.actions import say_flag, say_grade
from annotate.judging.journal_entries import (
    Entry,
    Further,
    SaidFlag,
    SaidGrade,
    SaidUndo,
    Taken,
    Unreadable,
    entries_of,
    read,
    user_of,
    uuid_of,
)
from annotate.judging.statement import Recorded, on_number
from annotate.judging.withdrawal import withdraw
from annotate.pairs import access
from annotate.pairs.models import InstructionPair
from annotate.projects.models import Membership
from base.api.limits import MAX_BODY
from base.api.problems import unavailable_problem
from base.errors import Refused
from base.users import User
from jobs.unavailable import is_full


class Answer(NamedTuple):
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
    """Save a page's journal entries: grades, flags, ratings and withdrawals.

    Entries are saved in the order received, each on its own, and each only once however often it
    is sent. A statement under a narrative that has a newer version by now is saved under the
    version that was read. Returns 200 with a status for each entry, in order; 400 if the body is
    not a list of entries, 413 if it has too many bytes, 503 if the database cannot save them now.
    Without a session it returns 401 and never redirects to a page: the browser keeps the entries.
    """
    if not isinstance(request.user, User):
        return _no(401, "Sign in; until then your answers are kept in your browser.")
    if request.method != "POST":
        return _no(405, "Send entries with POST.")
    length = request.META.get("CONTENT_LENGTH") or "0"
    if not length.isdecimal() or int(length[:20]) > MAX_BODY:
        return _no(413, f"At most {MAX_BODY:,} bytes are accepted at once.")
    known: dict[int, tuple[Membership, InstructionPair]] = {}
    try:
        entries = entries_of(request.body)
        answers = [_answer(entry, request.user, known) for entry in entries]
    except Unreadable as unreadable:
        return _no(400, str(unreadable))
    except (OperationalError, OSError) as error:
        if not is_full(error) and not isinstance(error, OperationalError):
            raise
        return _no(503, **unavailable_problem(error))
    return JsonResponse({"answers": [answer._asdict() for answer in answers]})


def _no(status: int, detail: str, **more: str) -> JsonResponse:
    return JsonResponse({"detail": detail, **more}, status=status)


def _answer(
    entry: Any, person: User, known: dict[int, tuple[Membership, InstructionPair]]
) -> Answer:
    """Save one entry; `known`: the pairs already looked up for earlier entries."""
    uuid = uuid_of(entry)
    user = user_of(entry)
    if user is not None and user != person.pk:
        return Answer(uuid, "foreign", None, "")
    try:
        said = read(entry)
        if said.pair not in known:
            known[said.pair] = access.pair(person, said.pair)
        member, pair = known[said.pair]
        at, told = _taken(said, member, pair)
    except Refused as refused:
        return Answer(uuid, "refused", None, str(refused))
    except Http404 as missing:
        return Answer(uuid, "refused", None, str(missing))
    return Answer(uuid, "saved", at, told)


def _taken(said: Entry, by: Membership, pair: InstructionPair) -> Taken:
    if isinstance(said, Further):
        return said.say(by=by, pair=pair)
    row, told = _say(said, by, pair)
    return Taken(row.at, told)


def _say(said: SaidGrade | SaidFlag | SaidUndo, by: Membership, pair: InstructionPair) -> Recorded:
    on = on_number(pair, said.narrative, said.candidate, by, said.text_version)
    if isinstance(said, SaidGrade):
        return say_grade(
            on=on,
            relevance=said.relevance,
            note=said.note,
            evidence=said.evidence,
            clauses=said.clauses,
            verdicts=said.verdicts,
            active_ms=said.active_ms,
            pressed=said.pressed,
            made_at=said.made_at,
            uuid=said.uuid,
            instead_of=said.instead_of,
            late=True,
            by=by,
        )
    if isinstance(said, SaidFlag):
        return say_flag(
            on=on,
            kind=said.flag,
            words=said.words,
            made_at=said.made_at,
            uuid=said.uuid,
            instead_of=said.instead_of,
            late=True,
            by=by,
        )
    return withdraw(uuid=said.undoes, pair=pair, by=by)
