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
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice
from typing import NamedTuple

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

    `read` yields the rows of a project (None: of the installation) in the order of their UUIDs;
    `label` names a row in words, from its content.
    """

    read: Callable[[Project | None], Iterator[Row]]
    label: Callable[[Content], str]


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
    events = iter(events)
    if after is None:
        _lock_chain(project, chain)
        after = end_of(project, chain)
    number, before, count = after.number, after.sum, 0
    while several := list(islice(events, bulk.CHUNK)):
        links = []
        for event, kind, name, what in several:
            number += 1
            before = link_hash(before, number, event, kind, name.bytes, what)
            links.append(
                Link(
                    project_id=project,
                    chain=chain,
                    number=number,
                    event=event,
                    kind=kind,
                    name=name,
                    digest=what,
                    sum=before,
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


# --- kinds with few rows --------------------------------------------------------------------------


def append_changes(
    kind: str,
    project: int,
    found: Iterable[tuple[int, Row]],
    *,
    new: Container[int] = (),
    ended: Container[int] = (),
) -> int:
    """Append to the project's one chain of a kind which of the rows `found` are new or have ended.

    `found`: rows with their keys; `ended`: keys of rows that ended or became current again. Call it
    in the transaction that wrote them.
    """
    events = []
    for key, row in found:
        if key in new:
            events.append(content_event(kind, row.name, row.content))
            if row.ended is not None:
                events.append(end_event(kind, row.name, row.ended))
        elif key in ended:
            events.append(end_event(kind, row.name, row.ended))
    return append(project, named(kind), events) if events else 0


def find_unlinked(kind: str, project: int, found: Iterable[tuple[int, Row]]) -> set[int]:
    """Return the keys of the rows that are missing in the project's one chain of a kind."""
    links = Link.objects.filter(project=project, chain=named(kind), event=Link.Event.CONTENT)
    linked = set(links.values_list("name", flat=True))
    return {key for key, row in found if row.name not in linked}


def with_uuids(
    found: Iterable[tuple[int, Content, Content, Content | None]],
) -> Iterator[tuple[int, Row]]:
    """Yield rows of a kind without UUIDs, each with a UUID derived from its identity.

    `found`: (key, identity, content, ended) in the order of the keys, including all rows with the
    same identity.
    """
    times: Counter[Content] = Counter()
    for key, identity, content, ended in found:
        times[identity] += 1
        yield key, Row(named(*identity, times[identity]), content, ended)


def sorted_by_uuid(found: Iterable[tuple[int, Row]]) -> Iterator[Row]:
    """Return the rows sorted by UUID, in memory."""
    return iter(sorted((row for _key, row in found), key=lambda row: row.name))
