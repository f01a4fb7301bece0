"""Entries of a browser's journal: each is one grade, flag, withdrawal or other answer.

This module checks the shape of every field; the actions check whether it is allowed.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from django.utils import timezone

from annotate.collection.spans import Span
from annotate.collection.text_versions import MAX_TEXT_VERSION
from base.errors import Refused
from base.users import User
from formats.fields import time_problem

MAX_ENTRIES = 100
# More spans than anybody marks in one document.
MAX_SENT_SPANS = 500

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)
_KEY = re.compile(r"[1-9][0-9]{0,17}", re.ASCII)
_KEYS = range(1, 2**63)

T = TypeVar("T")


@dataclass(frozen=True)
class EntryOrigin:
    """The identity of an entry, and its time by the browser's clock."""

    uuid: UUID
    made_at: datetime


@dataclass(frozen=True)
class DocumentEntry(EntryOrigin):
    """An entry about one document under a narrative."""

    pair: int
    narrative: int
    candidate: int
    # The text version that was on the screen: 0 for no text, None if the page did not send it.
    text_version: int | None


class SavedEntry(NamedTuple):
    """The result of saving an entry: the time, and a warning, if any."""

    at: datetime
    sentence: str = ""


@dataclass(frozen=True)
class RegisteredEntry(EntryOrigin, ABC):
    """An entry of a kind that another app registers, which saves itself."""

    @abstractmethod
    def save(self, *, by: User) -> SavedEntry:
        """Save the entry, or raise Refused or Http404. Idempotent."""


@dataclass(frozen=True)
class GradeEntry(DocumentEntry):
    """A grade with its note, evidence, clauses and verdicts."""

    relevance: int
    note: str
    evidence: list[Span]
    clauses: list[Span]
    verdicts: dict[int, str]
    active_ms: int | None
    pressed: str
    instead_of: UUID | None


@dataclass(frozen=True)
class FlagEntry(DocumentEntry):
    """A flag instead of a grade."""

    flag: str
    words: str
    instead_of: UUID | None


@dataclass(frozen=True)
class UndoEntry(DocumentEntry):
    """The withdrawal of an earlier statement."""

    undoes: UUID


Entry = GradeEntry | FlagEntry | UndoEntry | RegisteredEntry


class Unreadable(Exception):
    """The request is not a list of entries; the message is a sentence to show."""


def parse_entries(body: bytes) -> list[Any]:
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


def uuid_of(entry: Any) -> str | None:
    """Return the UUID of an entry as it was sent, or None if it has no valid one."""
    uuid = entry.get("uuid") if isinstance(entry, dict) else None
    return uuid if isinstance(uuid, str) and _UUID.fullmatch(uuid) else None


def user_of(entry: Any) -> int | None:
    """Return the id of the user whose entry it is, or None if it has none."""
    user = entry.get("user") if isinstance(entry, dict) else None
    return user if isinstance(user, int) and not isinstance(user, bool) else None


def parse_entry(entry: Any) -> Entry:
    """Parse an entry; raise Refused, naming the field, if one is invalid."""
    if not isinstance(entry, dict):
        raise Refused("An entry must be an object with fields.")
    kind = text_field(entry, "kind")
    if kind not in _KINDS and kind not in _registered:
        known = ", ".join([*_KINDS, *_registered])
        raise Refused(f"The field “kind” must be one of {known}.")
    key_field(entry, "user")
    origin = {"uuid": uuid_field(entry, "uuid"), "made_at": _moment(entry, "made_at")}
    if kind in _registered:
        return _registered[kind](entry, origin)
    document = {
        "pair": key_field(entry, "pair"),
        "narrative": key_field(entry, "narrative"),
        "candidate": key_field(entry, "candidate"),
        "text_version": optional_field(entry, "text_version", _text_version),
    }
    return _KINDS[kind](entry, {**origin, **document})


Reader = Callable[[Mapping[str, Any], dict[str, Any]], RegisteredEntry]
_registered: dict[str, Reader] = {}


def register(kind: str, reader: Reader) -> None:
    """Register a reader for entries of this kind; called once, when an app starts.

    `reader` receives an entry and its `EntryOrigin` fields; it raises Refused for a wrong field.
    """
    _registered[kind] = reader


def text_field(entry: Mapping[str, Any], name: str, default: str | None = None) -> str:
    """Return a text field, or the default if it is missing; raise Refused if it is not a text."""
    return _field(entry, name, str, "a text", default)


def form_field(entry: Mapping[str, Any], name: str) -> dict[str, str]:
    """Return a field that holds a form's fields by name, or raise Refused."""
    sent = _field(entry, name, dict, "the fields of a form")
    if not all(isinstance(value, str) for value in sent.values()):
        raise Refused(f"The field “{name}” must hold texts by name.")
    return sent


def _grade(entry: Mapping[str, Any], common: dict[str, Any]) -> Entry:
    return GradeEntry(
        **common,
        relevance=_field(entry, "relevance", int, "a whole number"),
        note=_field(entry, "note", str, "a text", ""),
        evidence=_spans(entry, "evidence"),
        clauses=_spans(entry, "clauses"),
        verdicts=_verdicts(entry, "verdicts"),
        active_ms=optional_field(entry, "active_ms", _milliseconds),
        pressed=_field(entry, "pressed", str, "a word", ""),
        instead_of=optional_field(entry, "instead_of", uuid_field),
    )


def _flag(entry: Mapping[str, Any], common: dict[str, Any]) -> Entry:
    return FlagEntry(
        **common,
        flag=_field(entry, "flag", str, "a word"),
        words=_field(entry, "words", str, "a text", ""),
        instead_of=optional_field(entry, "instead_of", uuid_field),
    )


def _undo(entry: Mapping[str, Any], common: dict[str, Any]) -> Entry:
    return UndoEntry(**common, undoes=uuid_field(entry, "undoes"))


_KINDS: dict[str, Callable[[Mapping[str, Any], dict[str, Any]], Entry]] = {
    "judgment": _grade,
    "flag": _flag,
    "undo": _undo,
}


def _field(
    entry: Mapping[str, Any], name: str, of: type[T], what: str, default: T | None = None
) -> T:
    value = entry.get(name, default)
    # In Python, True is an int.
    if not isinstance(value, of) or (of is int and isinstance(value, bool)):
        raise Refused(f"The field “{name}” must be {what}.")
    return value


def optional_field(
    entry: Mapping[str, Any], name: str, parse: Callable[[Mapping[str, Any], str], T]
) -> T | None:
    """Return a field as `parse` reads it, or None if it is missing."""
    return None if entry.get(name) is None else parse(entry, name)


def key_field(entry: Mapping[str, Any], name: str) -> int:
    """Return the key of a row, or raise Refused."""
    value = _field(entry, name, int, "a whole number")
    if value not in _KEYS:
        raise Refused(f"The field “{name}” is not a valid id.")
    return value


def _milliseconds(entry: Mapping[str, Any], name: str) -> int:
    return _field(entry, name, int, "a whole number of milliseconds")


def _text_version(entry: Mapping[str, Any], name: str) -> int:
    version = _field(entry, name, int, "a whole number")
    if not 0 <= version <= MAX_TEXT_VERSION:
        raise Refused(f"The field “{name}” is not a valid text version.")
    return version


def uuid_field(entry: Mapping[str, Any], name: str) -> UUID:
    """Return a UUID, or raise Refused."""
    value = _field(entry, name, str, "a UUID")
    if not _UUID.fullmatch(value) or not UUID(value).int:
        raise Refused(f"The field “{name}” must be a UUID.")
    return UUID(value)


def _moment(entry: Mapping[str, Any], name: str) -> datetime:
    value = _field(entry, name, str, "an ISO 8601 time")
    try:
        moment = datetime.fromisoformat(value) if len(value) <= 40 else None
        if moment is None or moment.tzinfo is None:
            raise ValueError
        moment = moment.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise Refused(f"The field “{name}” must be an ISO 8601 time with a zone.") from error
    # The clock of that computer is wrong; use the current time instead.
    return timezone.now() if time_problem(moment) else moment


def _spans(entry: Mapping[str, Any], name: str) -> list[Span]:
    spans = _field(entry, name, list, "a list of spans", [])
    if len(spans) > MAX_SENT_SPANS:
        raise Refused(f"The field “{name}” has {len(spans):,} spans, which is too many.")
    return [_span(span, name) for span in spans]


def _span(span: Any, name: str) -> Span:
    if not isinstance(span, dict):
        raise Refused(f"The field “{name}” must be a list of spans with start and end.")
    what = "a whole number in every span"
    return Span(_field(span, "start", int, what), _field(span, "end", int, what))


def _verdicts(entry: Mapping[str, Any], name: str) -> dict[int, str]:
    verdicts = _field(entry, name, dict, "an object of verdicts", {})
    if not all(
        _KEY.fullmatch(condition) and isinstance(answer, str)
        for condition, answer in verdicts.items()
    ):
        raise Refused(f"The field “{name}” must map keys of conditions to answers.")
    return {int(condition): answer for condition, answer in verdicts.items()}


def _refuse_constant(name: str) -> None:
    raise ValueError(name)
