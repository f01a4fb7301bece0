"""Whether something failed because there was no room left."""

from __future__ import annotations

import errno
import sqlite3

# No space, a quota that is used up, a file that may not grow any further.
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
# PostgreSQL's "disk_full".
_SQLSTATE = "53100"


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
