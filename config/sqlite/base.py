"""The database wrapper that Django looks for in a backend."""

from __future__ import annotations

import fcntl
import os
import time
from functools import cache
from threading import Lock

from django.db import OperationalError
from django.db.backends.sqlite3 import base

from base.file_locks import try_lock

# Seconds between two attempts of a process to be the next that writes.
PAUSE = 0.0005


class _Queue:
    """The writers of one database file: at most one at a time, in all processes.

    In a process a lock decides whose turn it is, and among processes the lock on a file beside the
    database. The system frees that one if its process is killed.
    """

    def __init__(self, database: str) -> None:
        self._turn = Lock()
        self._file = os.open(f"{database}-turn", os.O_RDWR | os.O_CREAT, 0o600)

    def enter(self, timeout: float) -> bool:
        """Wait for this thread's turn. Return whether it came within `timeout` seconds."""
        until = time.monotonic() + timeout
        if not self._turn.acquire(timeout=timeout):
            return False
        try:
            while not try_lock(self._file):
                if time.monotonic() > until:
                    self._turn.release()
                    return False
                time.sleep(PAUSE)
        except BaseException:
            self._turn.release()
            raise
        return True

    def leave(self) -> None:
        """Let the next one write."""
        fcntl.flock(self._file, fcntl.LOCK_UN)
        self._turn.release()


@cache
def _queue_of(database: str) -> _Queue:
    return _Queue(database)


# A forked process has none of its parent's threads, and must not wait for one of them.
os.register_at_fork(after_in_child=_queue_of.cache_clear)


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's connection to SQLite, whose writers wait in a queue.

    SQLite lets one transaction write at a time, and has no queue: a writer who finds the database
    locked sleeps and tries again, for longer each time, up to a tenth of a second. With eight busy
    annotators, the slowest of a hundred judgments took 0.25 to 0.44 s; in the queue it takes 0.06
    to 0.08 s. A program that does not use the queue still waits as SQLite does.
    """

    # Set by Django; its type stubs do not have it.
    transaction_mode: str | None

    _queue: _Queue | None = None

    def _start_transaction_under_autocommit(self) -> None:
        """Begin a transaction; if it may write, when it is this thread's turn.

        Raises OperationalError if that does not come within the timeout of the database.
        """
        if self.transaction_mode != "IMMEDIATE" or self.is_in_memory_db():
            self._begin()
            return
        queue = _queue_of(str(self.settings_dict["NAME"]))
        if not queue.enter(self.settings_dict["OPTIONS"]["timeout"]):
            raise OperationalError("database is locked")
        self._queue = queue
        try:
            self._begin()
        except BaseException:
            self._leave()
            raise

    def _begin(self) -> None:
        # Django's type stubs do not have this method.
        super()._start_transaction_under_autocommit()  # type: ignore[misc]

    def commit(self) -> None:
        """Commit, and let the next one write."""
        super().commit()
        self._leave()

    def rollback(self) -> None:
        """Roll back, and let the next one write."""
        super().rollback()
        self._leave()

    def close(self) -> None:
        """Close the connection, which ends a transaction, and let the next one write."""
        try:
            super().close()
        finally:
            self._leave()

    def _leave(self) -> None:
        queue, self._queue = self._queue, None
        if queue is not None:
            queue.leave()
