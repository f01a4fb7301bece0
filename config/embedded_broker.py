"""The embedded broker: messages in a table of one SQLite file, as a transport of kombu.

kombu's own transport for SQLite goes through SQLAlchemy, which took 20 MB of each process that
touches the broker and 1.5 s of its first message (decision 0025).

A message is deleted when a worker takes it. One that is lost with a killed worker is published
again by `jobs.reconcile`: the job's row is the truth.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from queue import Empty
from typing import Any

from kombu.transport import TRANSPORT_ALIASES, virtual

# A broker's URL: this, "://", and the path of the file, which is made when it is needed.
SCHEME = "embedded"
# How long a process waits for another one that writes, in seconds.
PATIENCE = 20
# How long a worker waits between two looks into the file, in seconds.
LOOKS_EVERY = 0.2

_TABLE = """
    CREATE TABLE IF NOT EXISTS message (
        id INTEGER PRIMARY KEY AUTOINCREMENT, queue TEXT NOT NULL, body TEXT NOT NULL
    )
"""


def is_embedded(broker_url: str) -> bool:
    """Tell whether a URL is one of the embedded broker."""
    return broker_url.startswith(f"{SCHEME}://")


class Channel(virtual.Channel):
    """Puts messages into the file and takes them out. kombu does the rest."""

    def _put(self, queue: str, message: dict[str, Any], **_: Any) -> None:
        with self._file() as rows:
            rows.execute(
                "INSERT INTO message (queue, body) VALUES (?, ?)", (queue, json.dumps(message))
            )

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        # Looking first takes no lock: most of the time there is nothing.
        if not self._size(queue):
            raise Empty
        with self._file() as rows:
            found = rows.execute(
                "DELETE FROM message WHERE id = (SELECT MIN(id) FROM message WHERE queue = ?)"
                " RETURNING body",
                (queue,),
            ).fetchall()
        if not found:
            raise Empty
        return json.loads(found[0][0])

    def _size(self, queue: str) -> int:
        with self._file() as rows:
            counted = rows.execute("SELECT COUNT(*) FROM message WHERE queue = ?", (queue,))
            return int(counted.fetchone()[0])

    def _purge(self, queue: str) -> int:
        with self._file() as rows:
            return rows.execute("DELETE FROM message WHERE queue = ?", (queue,)).rowcount

    @contextmanager
    def _file(self) -> Iterator[sqlite3.Connection]:
        """Open the file, each statement a transaction of its own.

        No connection is kept: a forked worker must not use its parent's.
        """
        client: Any = self.connection.client
        path = client.hostname.removeprefix(f"{SCHEME}://")
        rows = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
        try:
            rows.execute(_TABLE)
            yield rows
        finally:
            rows.close()


class Transport(virtual.Transport):
    """What kombu knows the embedded broker by."""

    Channel = Channel
    # kombu leaves the URL to us: its path is a file's.
    can_parse_url = True
    polling_interval = LOOKS_EVERY
    default_port = 0
    driver_type = driver_name = "sqlite"
    connection_errors = (*virtual.Transport.connection_errors, sqlite3.Error)

    def driver_version(self) -> str:
        """Return the version of SQLite."""
        return sqlite3.sqlite_version


TRANSPORT_ALIASES[SCHEME] = f"{__name__}:Transport"
