"""Consistent reads of a whole project while people go on judging."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection, connections, transaction


@contextmanager
def snapshot() -> Iterator[None]:
    """Let all reads inside see one snapshot of the database, without blocking writers.

    Nothing may be written inside. Within an open transaction, that transaction's view is used.
    """
    if connection.in_atomic_block:
        yield
    elif connection.vendor == "postgresql":
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                # All rows are fetched, so plan for the total time, not for the first rows.
                cursor.execute("SET LOCAL cursor_tuple_fraction = 1")
            yield
    else:
        # By our settings every transaction begins as a writer. This one only reads: with SQLite's
        # write-ahead log a reader sees one snapshot and does not block the writer.
        connection.ensure_connection()
        sqlite: Any = connections[connection.alias]
        mode, sqlite.transaction_mode = sqlite.transaction_mode, "DEFERRED"
        try:
            with transaction.atomic():
                yield
        finally:
            sqlite.transaction_mode = mode
