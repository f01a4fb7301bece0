"""Write a load in slices, so that people who judge do not have to wait for it.

SQLite has one writer at a time: a million rows in one transaction block everybody for seconds.
Here the rows are written in short transactions with pauses for other writers. Until the last
transaction they are unseen (`annotate.models.Unseen`), so a load is still all or nothing. Rows left
behind by a killed load are deleted before the next load writes.
"""

from __future__ import annotations

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
from base.file_locks import try_lock

logger = logging.getLogger(__name__)

# Kinds of rows -> the tables to delete them from, and the key columns. Rows that refer to others
# are deleted first.
_TABLES_OF = {
    Unseen.Kind.CANDIDATE: [("annotate_candidate", "id")],
    Unseen.Kind.DOCUMENT: [("annotate_documenttext", "document_id"), ("annotate_document", "id")],
    Unseen.Kind.QUERY: [("annotate_revision", "query_id"), ("annotate_query", "id")],
}
# A file of more records than this is written in slices. Writing this many at once blocks others no
# longer than one slice does.
AT_ONCE = 10_000
# How long one slice may block others, in seconds.
MAX_BLOCKED = 0.03
# Rows of the first slice; later slices have as many as fit into that time, within these bounds.
FIRST, LEAST, MOST = 200, 10, 50_000
# How often to check a condition that is waited for, in seconds.
POLL_INTERVAL = 0.1
# Pages that SQLite's write-ahead log may hold (256 MB). During a long read transaction, such as an
# export, no page can be moved out of the log, and every slice writes many of them again.
MAX_LOG_PAGES = 65_536


@contextmanager
def turn(progress: Progress) -> Iterator[None]:
    """On SQLite, serialize loads; first delete rows that a killed load left behind.

    The lock is held on a file beside the database, so it is released when its holder exits, even
    by a crash. Inside a transaction, which excludes all other writers, no lock is needed.
    """
    if bulk.on_postgresql() or connection.in_atomic_block:
        yield
        return
    file = os.open(f"{connection.settings_dict['NAME']}-load", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _wait(progress, "Waiting for another file", lambda: try_lock(file))
        if Unseen.objects.exists():
            progress.start(None, "Deleting rows that a stopped load left behind")
            _delete_unseen()
        yield
    finally:
        # Closing the file releases the lock.
        os.close(file)


def _wait(progress: Progress, what: str, until: Callable[[], bool]) -> bool:
    """Wait until a condition holds, showing `what` as the step; return whether it had to wait."""
    if until():
        return False
    progress.start(None, what)
    while not until():
        progress.advance(0)
        time.sleep(POLL_INTERVAL)
    return True


class Slices:
    """The rows of one load, unseen until `show`. Create it within a `turn`.

    `step` is the step shown to users while rows are written. `dry_run`: the rows are never shown,
    and rows that no later statement looks up are only counted.
    """

    def __init__(self, progress: Progress, *, step: str, dry_run: bool) -> None:
        self._progress = progress
        self._step = step
        self._dry_run = dry_run
        self._last: list[Callable[[], object]] = []

    def insert(
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
        """Insert the rows of the query `rows` into a table; return their number.

        Parameters as in `Intake.insert`.
        """
        kind = table.removeprefix("annotate_")
        bulk.drop("stage_put")
        bulk.run(f"CREATE TEMPORARY TABLE stage_put AS {rows}", params)
        try:
            count = bulk.number("SELECT COUNT(*) FROM stage_put")
            if count and (needed or not self._dry_run):
                if kind in list(Unseen.Kind):
                    first = _reserve_keys(Unseen.Kind(kind), count)
                    columns, values = f"id, {columns}", f"{first - 1} + p.rowid, {values}"
                self._write(
                    f"INSERT INTO {table} ({columns}) SELECT {values} FROM stage_put p {beside} "  # noqa: S608 (our own statements)
                    f"{'AND' if beside else 'WHERE'} p.rowid > %(after)s AND p.rowid <= %(last)s",
                    count,
                )
        finally:
            bulk.drop("stage_put")
        return count

    def run_at_end(self, write: Callable[[], object]) -> None:
        """Schedule a write for the transaction that shows the rows."""
        self._last.append(write)

    def show(self) -> None:
        """Make the rows visible to everybody. Call it in a transaction."""
        for write in self._last:
            write()
        Unseen.objects.all().delete()

    def delete_unseen(self) -> None:
        """Delete all the rows again, unless they were shown."""
        try:
            _delete_unseen()
        except DatabaseError:
            # A full disk allows no deletions either. Nobody sees the rows, and the next load
            # deletes them first; the earlier error is the one to report.
            logger.exception("rows of a load that was not done are left for the next one to delete")

    def _write(self, statement: str, count: int) -> None:
        self._progress.start(count, self._step)
        done = 0
        for written in _run_in_slices(statement, 0, count):
            done += written
            if _wait(self._progress, "Waiting for an export or a backup", _log_has_room):
                self._progress.start(count, self._step)
                self._progress.advance(done)
            else:
                self._progress.advance(written)


def _log_has_room() -> bool:
    [(_busy, pages, moved)] = bulk.select("PRAGMA wal_checkpoint(PASSIVE)")
    return bool(pages <= MAX_LOG_PAGES or pages == moved)


def _reserve_keys(kind: Unseen.Kind, count: int) -> int:
    """Reserve the next `count` keys of a table; return the first of them."""
    with transaction.atomic():
        first = 1 + row_keys.reserve_keys(apps.get_model("annotate", kind), 1, count)
        Unseen.objects.create(kind=kind, first=first, last=first + count - 1)
    return first


def _run_in_slices(statement: str, after: int, last: int) -> Iterator[int]:
    """Execute a statement for rows numbered `after + 1` to `last`, in slices.

    The statement's parameters `after` and `last` bound a slice; the number of rows of each slice is
    yielded. After each slice other writers get as much time as it blocked them: while SQLite moves
    pages out of its log, which it does after the commit, or while this sleeps.
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
        size = max(LEAST, min(int(size * min(MAX_BLOCKED / max(wrote, 1e-6), 2)), MOST))


def _delete_unseen() -> None:
    """Delete rows that were written and never shown, in slices."""
    for kind, tables in _TABLES_OF.items():
        for unseen in Unseen.objects.filter(kind=kind):
            for table, key in tables:
                statement = f"DELETE FROM {table} WHERE {key} > %(after)s AND {key} <= %(last)s"  # noqa: S608 (our names)
                for _ in _run_in_slices(statement, unseen.first - 1, unseen.last):
                    pass
            unseen.delete()
