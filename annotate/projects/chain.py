"""Chains of sums: they tell whether what people said is still what they said.

Of everything that was said a link is kept, with a sum of it (`said`), and another whenever it ends
or stands again (`stands`). A link's own sum is made of that and the sum of the link before, so that
no link can be changed, left out or put in between without all that follow. An assignment has a
chain, so that nobody waits for another; a file that was loaded has one; what leads settle has one
for each kind. No sum is of a key of a row: they hold in whatever database the rows are.

`manage.py verify` compares rows, links and sums; `docs/audit-log.md` says what that proves.
"""

from __future__ import annotations

import hashlib
import json
import uuid as uuids
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any, NamedTuple

from django.db import connection

from annotate.projects.models import Link, Project
from base import bulk

# Of the names made here. Any constant will do, as long as it stays.
NAMESPACE = uuids.UUID("5b0d1f6e-3c52-4a0e-9a39-5f1f6f3f2d8b")
# Before the first link.
NOTHING = b"\0" * 32

# Made once: a file has a thousand thousand of them to be written.
_written = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

_COLUMNS = ("project_id", "chain", "number", "event", "kind", "name", "digest", "sum")
# So many rows at most are sent as one statement; more go by the fast way.
_FEW = 20

Content = tuple[str | int | bool | None, ...]


class End(NamedTuple):
    """The last link of a chain; 0 and NOTHING where it has none."""

    number: int = 0
    sum: bytes = NOTHING


class Event(NamedTuple):
    """What a link is made of: `event` is a `Link.Event`, `name` the UUID of what it is of."""

    event: int
    kind: str
    name: uuids.UUID
    digest: bytes


class Row(NamedTuple):
    """A row as it is now: its UUID, what it says, and since when that no longer stands (None: it
    does).
    """

    name: uuids.UUID
    content: Content
    ended: Content | None = None


class Kind(NamedTuple):
    """A kind of thing that is said.

    `read` yields the rows of a project, or with None those of the installation, in the order of
    their UUIDs; `label` names one in words, from its content.
    """

    read: Callable[[Project | None], Iterator[Row]]
    label: Callable[[Content], str]


KINDS: dict[str, Kind] = {}


def register(kinds: Mapping[str, Kind]) -> None:
    """Look after these kinds as well; a room calls it once, when it starts."""
    KINDS.update(kinds)


# --- sums -----------------------------------------------------------------------------------------


def said(kind: str, name: uuids.UUID, content: Content) -> Event:
    """What was said, for the chain."""
    return Event(Link.Event.SAID, kind, name, digest(kind, content))


def stands(kind: str, name: uuids.UUID, ended: Content | None) -> Event:
    """Since when something no longer stands, or that it stands again (None), for the chain."""
    return Event(Link.Event.STANDS, kind, name, digest(kind, ended))


def digest(kind: str, content: Content | None) -> bytes:
    """The sum of one content: SHA-256 of it as JSON."""
    return hashlib.sha256(_written([kind, content]).encode()).digest()


def linked(before: bytes, number: int, event: int, kind: str, name: bytes, what: bytes) -> bytes:
    """The sum of a link, of that of the link before it and all that it says."""
    made = hashlib.sha256(before)
    made.update(f"{number} {event} {kind} ".encode())
    made.update(name)
    made.update(what)
    return made.digest()


def moment(value: datetime | str | None) -> str | None:
    """A moment as it goes into a sum: in UTC, to the microsecond, without saying so. Takes what
    either database's driver gives.
    """
    if isinstance(value, datetime):
        if value.tzinfo is not None:
            value = value.astimezone(UTC).replace(tzinfo=None)
        return value.isoformat(" ")
    return value


def named(*words: object) -> uuids.UUID:
    """A UUID that these words always have: of a chain, or of what has none of its own."""
    return uuids.uuid5(NAMESPACE, json.dumps([str(word) for word in words], ensure_ascii=False))


def of_assignment(pair_id: str, annotator: str) -> uuids.UUID:
    """The chain of what one person says of one pair."""
    return named("judge", pair_id, annotator)


# --- writing --------------------------------------------------------------------------------------


def append(
    project: int | None, chain: uuids.UUID, events: Iterable[Event], *, after: End | None = None
) -> int:
    """Write events to a chain, and return how many they were. Call it in the transaction in which
    they happen.

    `after`: the end of the chain, for who holds a lock that keeps others from it: one statement.
    Without it others are kept away until the transaction ends. Memory does not grow with `events`.
    """
    events = iter(events)
    if after is None:
        _keep_others_away(project, chain)
        after = end_of(project, chain)
    number, before, count = after.number, after.sum, 0
    key = chain if bulk.on_postgresql() else chain.hex
    while several := list(islice(events, bulk.CHUNK)):
        rows = []
        for event, kind, name, what in several:
            number += 1
            before = linked(before, number, event, kind, name.bytes, what)
            own = name if bulk.on_postgresql() else name.hex
            rows.append((project, key, number, int(event), kind, own, what, before))
        _insert(rows)
        count += len(rows)
    return count


def end_of(project: int | None, chain: uuids.UUID) -> End:
    """Return the end of a chain as it is now."""
    last = (
        Link.objects.filter(project=project, chain=chain)
        .order_by("-number")
        .values_list("number", "sum")
        .first()
    )
    return End(last[0], bytes(last[1])) if last else End()


def _insert(rows: Sequence[tuple[Any, ...]]) -> None:
    names = ", ".join(_COLUMNS)
    marks = f"({', '.join(['%s'] * len(_COLUMNS))})"
    with connection.cursor() as cursor:
        if len(rows) <= _FEW:
            every = ", ".join([marks] * len(rows))
            cursor.execute(
                f"INSERT INTO annotate_link ({names}) VALUES {every}",  # noqa: S608 (our names)
                [value for row in rows for value in row],
            )
        elif bulk.on_postgresql():
            with cursor.copy(f"COPY annotate_link ({names}) FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
        else:
            cursor.executemany(f"INSERT INTO annotate_link ({names}) VALUES {marks}", rows)  # noqa: S608


def _keep_others_away(project: int | None, chain: uuids.UUID) -> None:
    """Let nobody else write to this chain until the transaction ends. SQLite has one writer."""
    if bulk.on_postgresql():
        key = int.from_bytes(named(project, chain).bytes[:8], signed=True)
        bulk.run("SELECT pg_advisory_xact_lock(%(key)s)", {"key": key})


# --- reading --------------------------------------------------------------------------------------


def stream(sql: str, parameters: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    """The rows of a query, through a cursor: memory does not grow with them. Only within a
    transaction, on PostgreSQL.
    """
    with connection.chunked_cursor() as cursor:
        cursor.execute(sql, parameters)
        while several := cursor.fetchmany(bulk.CHUNK):
            yield from several


def uuid_of(value: uuids.UUID | str) -> uuids.UUID:
    """A UUID as either database's driver gives it."""
    return value if isinstance(value, uuids.UUID) else uuids.UUID(value)


# --- kinds of which there are few -----------------------------------------------------------------


def follow(
    kind: str,
    project: int,
    found: Iterable[tuple[int, Row]],
    *,
    new: Container[int] = (),
    ended: Container[int] = (),
) -> int:
    """Put into the project's one chain of a kind which of the rows `found` (each with its key) are
    new, and which no longer stand or stand again. Call it in the transaction that wrote them.
    """
    events = []
    for key, row in found:
        if key in new:
            events.append(said(kind, row.name, row.content))
            if row.ended is not None:
                events.append(stands(kind, row.name, row.ended))
        elif key in ended:
            events.append(stands(kind, row.name, row.ended))
    return append(project, named(kind), events) if events else 0


def unlinked(kind: str, project: int, found: Iterable[tuple[int, Row]]) -> set[int]:
    """The keys of those rows that the project's one chain of a kind does not have."""
    links = Link.objects.filter(project=project, chain=named(kind), event=Link.Event.SAID)
    known = set(links.values_list("name", flat=True))
    return {key for key, row in found if row.name not in known}


def told_apart(
    found: Iterable[tuple[int, Content, Content, Content | None]],
) -> Iterator[tuple[int, Row]]:
    """Rows of a kind that has no UUIDs, with one made of what identifies each: (key, identity,
    content, ended) in the order of the keys, with all that have the same identity.
    """
    times: Counter[Content] = Counter()
    for key, identity, content, ended in found:
        times[identity] += 1
        yield key, Row(named(*identity, times[identity]), content, ended)


def in_order(found: Iterable[tuple[int, Row]]) -> Iterator[Row]:
    """Rows of which there are few, in the order of their UUIDs."""
    return iter(sorted((row for _key, row in found), key=lambda row: row.name))
