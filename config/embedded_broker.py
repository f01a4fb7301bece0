"""The embedded broker: messages in a table of one SQLite file, as a transport of kombu.

kombu's own transport for SQLite uses SQLAlchemy, which took 20 MB in each process that uses the
broker and delayed its first message by 1.5 s (decision 0025).

A message is deleted when a worker takes it. If it is lost with a killed worker, `jobs.queue`
publishes it again: the job's row is the source of truth.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from queue import Empty
from typing import Any

from kombu.transport import TRANSPORT_ALIASES, virtual

# A broker's URL is this, "://", and the path of the file, which is created when needed.
SCHEME = "embedded"
# How long a process waits for another process to finish writing, in seconds.
LOCK_TIMEOUT = 20
# How long a worker waits between two checks for messages, in seconds.
POLL_INTERVAL = 0.2

_TABLE = """
    CREATE TABLE IF NOT EXISTS message (
        id INTEGER PRIMARY KEY AUTOINCREMENT, queue TEXT NOT NULL, body TEXT NOT NULL
    )
"""


def is_embedded(broker_url: str) -> bool:
    """Return whether a URL is that of the embedded broker."""
    return broker_url.startswith(f"{SCHEME}://")


class Channel(virtual.Channel):
    """Writes messages to the file and takes them out again; kombu does the rest."""

    def _put(self, queue: str, message: dict[str, Any], **_: Any) -> None:
        with self._open_file() as database:
            database.execute(
                "INSERT INTO message (queue, body) VALUES (?, ?)", (queue, json.dumps(message))
            )

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        # Counting first takes no write lock: most of the time the queue is empty.
        if not self._size(queue):
            raise Empty
        with self._open_file() as database:
            taken = database.execute(
                "DELETE FROM message WHERE id = (SELECT MIN(id) FROM message WHERE queue = ?)"
                " RETURNING body",
                (queue,),
            ).fetchall()
        if not taken:
            raise Empty
        return json.loads(taken[0][0])

    def _size(self, queue: str) -> int:
        with self._open_file() as database:
            counted = database.execute("SELECT COUNT(*) FROM message WHERE queue = ?", (queue,))
            return int(counted.fetchone()[0])

    def _purge(self, queue: str) -> int:
        with self._open_file() as database:
            return database.execute("DELETE FROM message WHERE queue = ?", (queue,)).rowcount

    @contextmanager
    def _open_file(self) -> Iterator[sqlite3.Connection]:
        """Open the file in autocommit mode.

        No connection is kept open: a forked worker must not use its parent's.
        """
        client: Any = self.connection.client
        path = client.hostname.removeprefix(f"{SCHEME}://")
        database = sqlite3.connect(path, timeout=LOCK_TIMEOUT, isolation_level=None)
        try:
            database.execute(_TABLE)
            yield database
        finally:
            database.close()


class Transport(virtual.Transport):
    """The embedded broker as a transport of kombu."""

    Channel = Channel
    # kombu must not parse the URL: it holds the path of a file.
    can_parse_url = True
    polling_interval = POLL_INTERVAL
    default_port = 0
    driver_type = driver_name = "sqlite"
    connection_errors = (*virtual.Transport.connection_errors, sqlite3.Error)

    def driver_version(self) -> str:
        """Return the version of SQLite."""
        return sqlite3.sqlite_version


TRANSPORT_ALIASES[SCHEME] = f"{__name__}:Transport"
