"""Hash chains: they show whether recorded judgments and decisions were changed afterwards.

Each recorded row has a link with the digest of its content (`content_event`), and another link
whenever it ends or becomes current again (`end_event`). A link's hash covers its own data and the
hash of the link before, so no link can be changed, removed or inserted without changing all later
ones. Each assignment has its own chain, so that people do not wait for each other; so has each
loaded file; leads' decisions have one for each kind. Digests do not include primary keys, so a
chain is valid in any database.

`manage.py verify` compares rows, links and hashes; `docs/audit-log.md` says what that proves.
"""

from __future__ import annotations

import hashlib
import json
import uuid as uuids
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice
from typing import Any, NamedTuple

from django.db.models import QuerySet

from annotate.projects.models import Link, Project
from base import bulk

# The namespace of the UUIDs made here. Any constant works, but it must never change.
NAMESPACE = uuids.UUID("5b0d1f6e-3c52-4a0e-9a39-5f1f6f3f2d8b")
# The hash before the first link.
NOTHING = b"\0" * 32

# One encoder for all: a file can need a million encodings.
_written = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

Content = tuple[str | int | bool | None, ...]


class End(NamedTuple):
    """The last link of a chain; 0 and NOTHING for an empty chain."""

    number: int = 0
    sum: bytes = NOTHING


class Event(NamedTuple):
    """The data of a link: `event` is a `Link.Event`, `name` the UUID of the row."""

    event: int
    kind: str
    name: uuids.UUID
    digest: bytes


class Row(NamedTuple):
    """A row as it is now: its UUID, its content, and when it ended (None: it is current)."""

    name: uuids.UUID
    content: Content
    ended: Content | None = None


class Kind(NamedTuple):
    """A kind of row in hash chains.

    `rows` returns the rows of all projects, and `project` is the path to a row's project; `read`
    yields the rows of such a query in its order; `label` names a row in words, from its content.
    """

    rows: Callable[[], QuerySet[Any]]
    project: str
    read: Callable[[QuerySet[Any]], Iterator[Row]]
    label: Callable[[Content], str]
    # Reviews have no UUID: they are ordered when they are read.
    order: str = "uuid"

    def of(self, project: Project | None) -> QuerySet[Any]:
        """Return the rows of a project (None: of the installation), ordered by their UUIDs."""
        return self.rows().filter(**{self.project: project}).order_by(self.order)


KINDS: dict[str, Kind] = {}


def register(kinds: Mapping[str, Kind]) -> None:
    """Add kinds of rows; an app calls it once, when it starts."""
    KINDS.update(kinds)


# --- hashes ---------------------------------------------------------------------------------------


def content_event(kind: str, name: uuids.UUID, content: Content) -> Event:
    """Return the event that records a row's content."""
    return Event(Link.Event.CONTENT, kind, name, digest(kind, content))


def end_event(kind: str, name: uuids.UUID, ended: Content | None) -> Event:
    """Return the event that records that a row ended, or is current again (`ended` is None)."""
    return Event(Link.Event.END, kind, name, digest(kind, ended))


def digest(kind: str, content: Content | None) -> bytes:
    """Return the SHA-256 of a kind and content as JSON."""
    return hashlib.sha256(_written([kind, content]).encode()).digest()


def link_hash(before: bytes, number: int, event: int, kind: str, name: bytes, what: bytes) -> bytes:
    """Return a link's hash: SHA-256 of the hash before it and the link's own data."""
    made = hashlib.sha256(before)
    made.update(f"{number} {event} {kind} ".encode())
    made.update(name)
    made.update(what)
    return made.digest()


def hashed_time(value: datetime | None) -> str | None:
    """Return a time as it is hashed: in UTC, to the microsecond, without an offset."""
    return None if value is None else value.astimezone(UTC).replace(tzinfo=None).isoformat(" ")


def named(*words: object) -> uuids.UUID:
    """Return the UUID derived from some words, for a chain or a row without its own UUID."""
    return uuids.uuid5(NAMESPACE, json.dumps([str(word) for word in words], ensure_ascii=False))


def of_assignment(pair_id: str, annotator: str) -> uuids.UUID:
    """Return the chain of one person's answers on one pair."""
    return named("judge", pair_id, annotator)


# --- writing --------------------------------------------------------------------------------------


def append(
    project: int | None, chain: uuids.UUID, events: Iterable[Event], *, after: End | None = None
) -> int:
    """Append events to a chain and return their number. Call it in the transaction of the events.

    `after`: the end of the chain, from a caller that already holds a lock against other writers;
    saves a query. Without it the chain is locked until the transaction ends. Memory use does not
    grow with `events`.
    """
    events, end, count = iter(events), after, 0
    while several := list(islice(events, bulk.CHUNK)):
        if end is None:
            _lock_chain(project, chain)
            end = end_of(project, chain)
        links = []
        for event, kind, name, what in several:
            number = end.number + 1
            end = End(number, link_hash(end.sum, number, event, kind, name.bytes, what))
            links.append(
                Link(
                    project_id=project,
                    chain=chain,
                    number=number,
                    event=event,
                    kind=kind,
                    name=name,
                    digest=what,
                    sum=end.sum,
                )
            )
        Link.objects.bulk_create(links)
        count += len(links)
    return count


def end_of(project: int | None, chain: uuids.UUID) -> End:
    """Return the current end of a chain."""
    last = (
        Link.objects.filter(project=project, chain=chain)
        .order_by("-number")
        .values_list("number", "sum")
        .first()
    )
    return End(last[0], bytes(last[1])) if last else End()


def _lock_chain(project: int | None, chain: uuids.UUID) -> None:
    """Lock this chain until the transaction ends. SQLite has only one writer anyway."""
    if bulk.on_postgresql():
        key = int.from_bytes(named(project, chain).bytes[:8], signed=True)
        bulk.run("SELECT pg_advisory_xact_lock(%(key)s)", {"key": key})


# --- events of rows -------------------------------------------------------------------------------


def events_of_new(kind: str, rows: QuerySet[Any]) -> Iterator[Event]:
    """Yield the events of new rows, including those that have ended already."""
    for row in KINDS[kind].read(rows.order_by("pk")):
        yield content_event(kind, row.name, row.content)
        if row.ended is not None:
            yield end_event(kind, row.name, row.ended)


def events_of_ended(kind: str, rows: QuerySet[Any]) -> Iterator[Event]:
    """Yield the events of rows that ended or became current again."""
    for row in KINDS[kind].read(rows.order_by("pk")):
        yield end_event(kind, row.name, row.ended)


def append_new(kind: str, project: int, rows: QuerySet[Any]) -> None:
    """Append new rows to the project's one chain of a kind, in the transaction that wrote them."""
    append(project, named(kind), events_of_new(kind, rows))


def append_ended(kind: str, project: int, rows: QuerySet[Any]) -> None:
    """Append to the project's one chain of a kind that rows ended or became current again.

    Call it in the transaction that changed them.
    """
    append(project, named(kind), events_of_ended(kind, rows))


def linked(kind: str, project: int) -> QuerySet[Any]:
    """Return the UUIDs of the rows that are in the project's one chain of a kind."""
    links = Link.objects.filter(project=project, chain=named(kind), event=Link.Event.CONTENT)
    return links.values("name")
