"""The endpoint for the browser's journal: judging pages send their entries when they can.

Session-authenticated. Returns a status for each entry. An entry is one grade, flag, withdrawal, or
an answer of a kind that another app registers; its serializer validates and saves it.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from django.contrib.auth.decorators import login_not_required
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, JsonResponse
from rest_framework import serializers

from annotate.judging.actions import Recorded, record_sent, withdraw
from annotate.judging.forms import (
    BrowserTimeField,
    FlagKindField,
    MadeAtField,
    SentFlag,
    SentJudgment,
    SentStatement,
    StatementUuidField,
    first_error,
)
from annotate.pairs import access
from annotate.pairs.models import InstructionPair
from annotate.projects.models import Membership
from base.api.limits import MAX_BODY
from base.api.problems import unavailable_problem
from base.api.resource import KeyField
from base.errors import Refused
from base.users import User
from jobs.errors import is_full

logger = logging.getLogger(__name__)

MAX_ENTRIES = 100
NOT_IN_YOUR_PROJECTS = (
    "This is in none of your projects now. Ask a lead to let you in again, then try again."
)
FAILED = (
    "The server failed at this, and its log says why. Your answer is kept in this browser: tell "
    "whoever runs this site, and try again once it is mended."
)


class SavedEntry(NamedTuple):
    """The result of saving an entry: the time, and a warning, if any."""

    at: datetime
    sentence: str = ""
    # Whether the document is open again, because it has a newer text than was read.
    reopened: bool = False

    @classmethod
    def of(cls, recorded: Recorded) -> SavedEntry:
        """Return the result for a recorded or withdrawn statement."""
        return cls(recorded.row.at, recorded.warning, recorded.is_of_older_text)


class Sender:
    """The person who sent a journal; it remembers the pairs that its entries are about."""

    def __init__(self, user: User) -> None:
        self.user = user
        self._pairs: dict[int, tuple[Membership, InstructionPair]] = {}

    def pair(self, key: int) -> tuple[Membership, InstructionPair]:
        """Return a pair with the sender as a member of its project, or refuse."""
        if key not in self._pairs:
            try:
                self._pairs[key] = access.pair(self.user, key)
            except Http404 as missing:
                raise Refused(NOT_IN_YOUR_PROJECTS) from missing
        return self._pairs[key]


class FormFieldsField(serializers.DictField):
    """The fields of a page's form, by name."""

    child = serializers.CharField(allow_blank=True, trim_whitespace=False)


class JournalEntry(serializers.Serializer[Any]):
    """A kind of entries of a browser's journal. One instance validates and saves all of them."""

    uuid = StatementUuidField()
    user = KeyField()
    made_at: MadeAtField = BrowserTimeField()

    def record_entry(self, sent: dict[str, Any], *, by: Sender) -> SavedEntry:
        """Save a validated entry, or raise Refused or Http404. Idempotent."""
        raise NotImplementedError


class StatementEntry(JournalEntry, SentStatement):
    """A grade or a flag. One under a narrative that has a newer version by now is saved under the
    version that was read.
    """

    pair = KeyField()
    instead_of = StatementUuidField(default=None, allow_null=True)
    # The version of the guidelines on the page; 0 for none.
    guidelines = serializers.IntegerField(required=False, min_value=0)

    def record_entry(self, sent: dict[str, Any], *, by: Sender) -> SavedEntry:
        """Record the statement."""
        member, pair = by.pair(sent["pair"])
        return SavedEntry.of(record_sent(sent, pair=pair, by=member, late=True))


class GradeEntry(StatementEntry, SentJudgment):
    """A grade."""


class FlagEntry(StatementEntry, SentFlag):
    """A flag; the field `kind` is that of the entry."""

    kind = None  # type: ignore[assignment]
    flag = FlagKindField()


class UndoEntry(JournalEntry):
    """The withdrawal of an earlier statement."""

    pair = KeyField()
    undoes = StatementUuidField()

    def record_entry(self, sent: dict[str, Any], *, by: Sender) -> SavedEntry:
        """Withdraw the statement."""
        member, pair = by.pair(sent["pair"])
        recorded = withdraw(uuid=sent["undoes"], pair=pair, by=member)
        at = recorded.row.withdrawn_at or recorded.row.at
        return SavedEntry(at, recorded.warning, recorded.is_of_older_text)


_kinds: dict[str, JournalEntry] = {
    "judgment": GradeEntry(),
    "flag": FlagEntry(),
    "undo": UndoEntry(),
}


def register(kinds: Mapping[str, JournalEntry]) -> None:
    """Add kinds of entries; an app calls it once, when it starts."""
    _kinds.update(kinds)


class Unreadable(Exception):
    """The request is not a list of entries; the message is a sentence to show."""


@login_not_required
def journal(request: HttpRequest) -> JsonResponse:
    """Save a page's journal entries: grades, flags, checks, ratings, decisions, withdrawals.

    Entries are saved in the order received, each on its own, and each only once however often it
    is sent. Returns 200 with a status for each entry, in order; 400 if the body is not a list of
    entries, 413 if it has too many bytes, 503 if the database cannot save them now. Without a
    session it returns 401 and never redirects to a page: the browser keeps the entries.
    """
    if not isinstance(request.user, User):
        return _problem(401, "Sign in; until then your answers are kept in your browser.")
    if request.method != "POST":
        return _problem(405, "Send entries with POST.")
    length = request.META.get("CONTENT_LENGTH") or "0"
    if not length.isdecimal() or int(length[:20]) > MAX_BODY:
        return _problem(413, f"At most {MAX_BODY:,} bytes are accepted at once.")
    sender = Sender(request.user)
    try:
        entries = _parse_entries(request.body)
        answers = [_save_entry(entry, sender) for entry in entries]
    except Unreadable as unreadable:
        return _problem(400, str(unreadable))
    except (OperationalError, OSError) as error:
        if not is_full(error) and not isinstance(error, OperationalError):
            raise
        return _problem(503, **unavailable_problem(error))
    return JsonResponse({"answers": answers})


def _problem(status: int, detail: str, **more: str) -> JsonResponse:
    return JsonResponse({"detail": detail, **more}, status=status)


def _parse_entries(body: bytes) -> list[Any]:
    """Return the unparsed entries of a request's body, or raise Unreadable."""
    try:
        sent = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise Unreadable("This is not JSON.") from error
    entries = sent.get("entries") if isinstance(sent, dict) else None
    if not isinstance(entries, list):
        raise Unreadable("Send an object with a list called “entries”.")
    if len(entries) > MAX_ENTRIES:
        raise Unreadable(f"{len(entries):,} entries are too many; send at most {MAX_ENTRIES}.")
    return entries


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def _save_entry(entry: Any, sender: Sender) -> dict[str, Any]:
    """Return the status of an entry, with the time and the sentence that belong to it.

    `state`: `saved` (it is in the database; `sentence` may hold a warning; `reopened`: the document
    has a newer text to judge), `refused` (`sentence` says why; nothing changed) or `foreign`
    (another person's entry; nothing changed).
    """
    if not isinstance(entry, dict):
        return _status(None, "refused", "An entry must be an object with fields.")
    uuid, user = _uuid_of(entry), entry.get("user")
    if isinstance(user, int) and not isinstance(user, bool) and user != sender.user.pk:
        return _status(uuid, "foreign")
    try:
        kind = _kind_of(entry)
        sent = _validate(entry, kind)
        if sent["user"] != sender.user.pk:
            return _status(uuid, "foreign")
        saved = kind.record_entry(sent, by=sender)
    except (Refused, Http404) as refused:
        return _status(uuid, "refused", str(refused))
    except (OperationalError, InterfaceError, OSError):
        raise
    except Exception:
        # One entry that the server cannot save must not keep the later ones from being saved.
        logger.exception("A journal entry was not saved", extra={"entry": uuid})
        return _status(uuid, "refused", FAILED)
    return _status(uuid, "saved", saved.sentence, saved.at, saved.reopened)


def _status(
    uuid: str | None,
    state: str,
    sentence: str = "",
    at: datetime | None = None,
    reopened: bool = False,
) -> dict[str, Any]:
    return {
        "uuid": uuid,
        "state": state,
        "at": at,
        "sentence": sentence,
        "reopened": reopened,
    }


def _uuid_of(entry: Mapping[str, Any]) -> str | None:
    """Return the UUID of an entry as it was sent, or None if it has no valid one."""
    try:
        StatementUuidField().to_internal_value(entry.get("uuid"))
    except serializers.ValidationError:
        return None
    return str(entry["uuid"])


def _kind_of(entry: Mapping[str, Any]) -> JournalEntry:
    kind = entry.get("kind")
    if not isinstance(kind, str) or kind not in _kinds:
        raise Refused(f"The field “kind” must be one of {', '.join(_kinds)}.")
    return _kinds[kind]


def _validate(entry: Mapping[str, Any], kind: JournalEntry) -> dict[str, Any]:
    """Return the fields of an entry; raise Refused, naming the field, if one is invalid."""
    # A page from before an update may send fields that are gone; its answers count.
    fields = {name: entry[name] for name in kind._declared_fields if name in entry}
    try:
        sent: dict[str, Any] = kind.run_validation(fields)
    except serializers.ValidationError as error:
        raise Refused(first_error(error.detail)) from error
    return sent
