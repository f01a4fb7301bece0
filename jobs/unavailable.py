"""Whether something failed because the database did not answer, or the disk had no room left."""

from __future__ import annotations

import errno
import sqlite3

from django.db import InterfaceError, OperationalError

# No space, a quota that is used up, a file that may not grow any further.
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
# PostgreSQL's "disk_full".
_SQLSTATE = "53100"
# Codes of SQLite for a database that does not answer: busy, locked, the disk fails or is full, no
# file. An error in a query has others.
_AWAY_IN_SQLITE = {5, 6, 10, 13, 14}
# Classes of PostgreSQL's codes: connection, resources, intervention by an operator.
_AWAY_IN_POSTGRESQL = ("08", "53", "57P")


def is_full(error: BaseException | None) -> bool:
    """Say whether `error`, or what it came of, says that a disk is full: by the system's word, by
    SQLite's or by PostgreSQL's.
    """
    while error is not None:
        if isinstance(error, OSError) and error.errno in _FULL:
            return True
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
            return True
        if getattr(error, "sqlstate", None) == _SQLSTATE:
            return True
        error = error.__cause__ or error.__context__
    return False


def is_away(error: BaseException | None) -> bool:
    """Say whether `error` came of a database that does not answer, or of a disk without room."""
    if is_full(error):
        return True
    while error is not None:
        if isinstance(error, InterfaceError):
            return True
        if isinstance(error, OperationalError):
            return _does_not_answer(error.__cause__)
        error = error.__cause__ or error.__context__
    return False


def _does_not_answer(error: BaseException | None) -> bool:
    """What a driver's error says; one without a code was raised before the database said any."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is not None:
        return int(code) & 0xFF in _AWAY_IN_SQLITE
    state = getattr(error, "sqlstate", None)
    return state is None or str(state).startswith(_AWAY_IN_POSTGRESQL)
