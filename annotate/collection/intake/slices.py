"""Writing a load a little at a time, so that nobody who judges has to wait for it.

SQLite has one writer at a time: a million rows in one transaction keep everybody waiting for
seconds. Here they are written in short transactions, with room for others in between. Until the
last one they are unseen (`annotate.models.Unseen`): a load is there as a whole or not at all, as
everywhere. What a killed load has left behind is taken away before the next one writes.
"""

from __future__ import annotations

import fcntl
import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.apps import apps
from django.db import DatabaseError, connection, transaction

from annotate.collection.intake.progress import Progress
from annotate.collection.unseen_rows import Unseen
from base import bulk, row_keys

logger = logging.getLogger(__name__)

# Kinds of rows -> the tables to clear of them, and their columns with the keys. What points to
# others goes before them.
_OF = {
    Unseen.Kind.CANDIDATE: [("annotate_candidate", "id")],
    Unseen.Kind.DOCUMENT: [("annotate_documenttext", "document_id"), ("annotate_document", "id")],
    Unseen.Kind.QUERY: [("annotate_revision", "query_id"), ("annotate_query", "id")],
}
# A file of more records than this is written in slices. So many keep others waiting no longer than
# one of the slices of a larger one.
AT_ONCE = 10_000
# What one slice may keep others waiting, in seconds.
WHILE = 0.03
# Rows of the first slice; of the others as many as fit into that time, within these bounds.
FIRST, LEAST, MOST = 200, 10, 50_000
# How often who waits for others looks whether they are done, in seconds.
LOOK = 0.1
# Pages that may wait in SQLite's log (256 MB). While somebody reads all of a project at one moment,
# as an export does, none can be moved from it, and every slice writes many of them again.
LOG = 65_536


@contextmanager
def turn(progress: Progress) -> Iterator[None]:
    """On SQLite, let one load write after the other; what a killed one left is taken away first.

    The lock is a file's beside the database: it ends with whoever holds it, however they end.
    Inside a transaction, which keeps all other writers out, there is nothing to wait for.
    """
    if bulk.on_postgresql() or connection.in_atomic_block:
        yield
        return
    file = os.open(f"{connection.settings_dict['NAME']}-load", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _wait(progress, "Waiting for another file", lambda: _locked(file))
        if Unseen.objects.exists():
            progress.start(None, "Clearing away what a stopped load has left")
            _sweep()
        yield
    finally:
        # Closing it gives the lock back.
        os.close(file)


def _wait(progress: Progress, what: str, until: Callable[[], bool]) -> bool:
    """Wait until something is true, and say for what; return whether there was anything to say."""
    if until():
        return False
    progress.start(None, what)
    while not until():
        progress.advance(0)
        time.sleep(LOOK)
    return True


def _locked(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


class Slices:
    """The rows of one load, unseen until `show`. To be made within one's `turn`.

    `step` is what people read meanwhile. `dry_run`: nothing is ever shown, and what no later
    statement looks up is only counted.
    """

    def __init__(self, progress: Progress, *, step: str, dry_run: bool) -> None:
        self._progress = progress
        self._step = step
        self._dry_run = dry_run
        self._last: list[Callable[[], object]] = []

    def put(
        self,
        table: str,
        columns: str,
        rows: str,
        params: Mapping[str, Any],
        *,
        values: str = "p.*",
        beside: str = "",
        needed: bool = True,
    ) -> int:
        """Write what the query `rows` finds into a table; return how many that are.

        Arguments as of `Intake.put`.
        """
        kind = table.removeprefix("annotate_")
        bulk.drop("stage_put")
        bulk.run(f"CREATE TEMPORARY TABLE stage_put AS {rows}", params)
        try:
            count = bulk.number("SELECT COUNT(*) FROM stage_put")
            if count and (needed or not self._dry_run):
                if kind in list(Unseen.Kind):
                    first = _reserve(Unseen.Kind(kind), count)
                    columns, values = f"id, {columns}", f"{first - 1} + p.rowid, {values}"
                self._write(
                    f"INSERT INTO {table} ({columns}) SELECT {values} FROM stage_put p {beside} "  # noqa: S608 (our own statements)
                    f"{'AND' if beside else 'WHERE'} p.rowid > %(after)s AND p.rowid <= %(last)s",
                    count,
                )
        finally:
            bulk.drop("stage_put")
        return count

    def at_last(self, write: Callable[[], object]) -> None:
        """Let something be written in the transaction that shows the rows."""
        self._last.append(write)

    def show(self) -> None:
        """Let everybody see the rows. To be called in a transaction."""
        for write in self._last:
            write()
        Unseen.objects.all().delete()

    def sweep(self) -> None:
        """Take all of the rows away again, unless they are shown."""
        try:
            _sweep()
        except DatabaseError:
            # A full disk takes no deletions either. Nobody sees the rows, and the next load begins
            # with taking them away; what went wrong before this is what people have to know.
            logger.exception("rows of a load that was not done are left for the next one to delete")

    def _write(self, statement: str, count: int) -> None:
        self._progress.start(count, self._step)
        done = 0
        for written in _in_slices(statement, 0, count):
            done += written
            if _wait(self._progress, "Waiting for an export or a backup", _log_has_room):
                self._progress.start(count, self._step)
                self._progress.advance(done)
            else:
                self._progress.advance(written)


def _log_has_room() -> bool:
    [(_busy, pages, moved)] = bulk.select("PRAGMA wal_checkpoint(PASSIVE)")
    return bool(pages <= LOG or pages == moved)


def _reserve(kind: Unseen.Kind, count: int) -> int:
    """Have the next `count` keys of a table to ourselves; return the first of them."""
    with transaction.atomic():
        first = 1 + row_keys.reserve(apps.get_model("annotate", kind), 1, count)
        Unseen.objects.create(kind=kind, first=first, last=first + count - 1)
    return first


def _in_slices(statement: str, after: int, last: int) -> Iterator[int]:
    """Execute a statement for rows numbered `after + 1` to `last`, some at a time (its parameters
    `after` and `last`); yield how many each time. For as long as others were kept waiting, they
    then have room: while SQLite moves pages from its log, which it does after letting go, or while
    this rests.
    """
    size = FIRST
    while after < last:
        until = min(after + size, last)
        with transaction.atomic():
            began = time.monotonic()
            bulk.run(statement, {"after": after, "last": until})
            wrote = time.monotonic() - began
        moved = time.monotonic() - began - wrote
        time.sleep(max(wrote - moved, 0.0))
        yield until - after
        after = until
        size = max(LEAST, min(int(size * min(WHILE / max(wrote, 1e-6), 2)), MOST))


def _sweep() -> None:
    """Delete what was written and never shown, a little at a time."""
    for kind, tables in _OF.items():
        for unseen in Unseen.objects.filter(kind=kind):
            for table, key in tables:
                statement = f"DELETE FROM {table} WHERE {key} > %(after)s AND {key} <= %(last)s"  # noqa: S608 (our names)
                for _ in _in_slices(statement, unseen.first - 1, unseen.last):
                    pass
            unseen.delete()
