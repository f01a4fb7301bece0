"""Errors: refused actions, which other apps import as `base.errors.Refused`; work that cannot be
done; a database that does not answer, a full disk.
"""

from __future__ import annotations

import errno
import sqlite3

from django.db import InterfaceError, OperationalError

# No space left, quota exceeded, file size limit reached.
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
# PostgreSQL's "disk_full".
_SQLSTATE = "53100"
# SQLite codes for a database that does not answer: busy, locked, I/O error, disk full, cannot open
# the file. Errors in a query have other codes.
_AWAY_IN_SQLITE = {5, 6, 10, 13, 14}
# Codes for a file that is damaged, or no SQLite database.
_DAMAGED_IN_SQLITE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
# Classes of PostgreSQL codes: connection, resources, operator intervention.
_AWAY_IN_POSTGRESQL = ("08", "53", "57P")


class Refused(Exception):
    """An action was refused and changed nothing; the message is a sentence for the person who
    asked.
    """


class JobError(Exception):
    """The work cannot be done; the message is a sentence for the person who requested it."""


def is_full(error: BaseException | None) -> bool:
    """Return whether `error` or a cause of it reports a full disk (system, SQLite, PostgreSQL)."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _FULL:
            return True
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
            return True
        if getattr(error, "sqlstate", None) == _SQLSTATE:
            return True
        error = error.__cause__ or error.__context__
    return False


def is_damaged(error: BaseException) -> bool:
    """Return whether an error of the database says that its SQLite file is damaged, or is none."""
    code = getattr(error.__cause__, "sqlite_errorcode", 0)
    return int(code) & 0xFF in _DAMAGED_IN_SQLITE


def is_away(error: BaseException | None) -> bool:
    """Return whether `error` comes from a database that does not answer, or from a full disk."""
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
    """Check the code of a driver's error; without one, the database never answered."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is not None:
        return int(code) & 0xFF in _AWAY_IN_SQLITE
    state = getattr(error, "sqlstate", None)
    return state is None or str(state).startswith(_AWAY_IN_POSTGRESQL)
