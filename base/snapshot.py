"""Reading a whole project as it stood at one moment, while people go on judging."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection, connections, transaction


@contextmanager
def snapshot() -> Iterator[None]:
    """Let everything read inside come from one moment, and keep no writer waiting.

    Nothing may be written inside. Within a transaction that is already open, that one's view of
    the rows is all there is, and it is used.
    """
    if connection.in_atomic_block:
        yield
    elif connection.vendor == "postgresql":
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                # Every row is fetched: plan for the last one, not for the first tenth.
                cursor.execute("SET LOCAL cursor_tuple_fraction = 1")
            yield
    else:
        # The settings let every transaction begin as a writer's. This one only reads: a reader of
        # SQLite's write-ahead log sees one moment, and lets the one writer go on.
        connection.ensure_connection()
        sqlite: Any = connections[connection.alias]
        mode, sqlite.transaction_mode = sqlite.transaction_mode, "DEFERRED"
        try:
            with transaction.atomic():
                yield
        finally:
            sqlite.transaction_mode = mode
