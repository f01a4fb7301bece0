"""The folder with the embedded database, the files and the keys of this installation."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from sqlite3 import SQLITE_READONLY

from django.core.exceptions import ImproperlyConfigured

from jobs.errors import is_full

_NOT_ALLOWED = {errno.EACCES, errno.EPERM, errno.EROFS}


def make_data_folders(data: Path, *within: Path) -> None:
    """Make the data folder and the folders within it; say what to do if that fails."""
    for folder in (data, *within):
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            sentence = explain_disk_error(error, data) or (
                f"The data folder {data} cannot be made ({error.strerror}). Set REJUDGE_DATA to "
                "another folder."
            )
            raise ImproperlyConfigured(sentence) from error
    if not os.access(data, os.W_OK | os.X_OK):
        raise ImproperlyConfigured(_not_allowed(data))


def explain_disk_error(error: BaseException, data: Path) -> str:
    """Return what to do about a full disk or a folder that cannot be written, else ""."""
    if is_full(error):
        return (
            f"The disk is full. Nothing that was saved is lost: free space for {data}, or set "
            "REJUDGE_DATA to a folder on another disk, then run this again."
        )
    if isinstance(error, OSError) and error.errno in _NOT_ALLOWED:
        return _not_allowed(Path(error.filename or data))
    code = getattr(error.__cause__, "sqlite_errorcode", None)
    return _not_allowed(data) if code is not None and code & 0xFF == SQLITE_READONLY else ""


def _not_allowed(path: Path) -> str:
    return (
        f"This system account may not write to {path}. Change the folder's owner or rights, or "
        "choose another folder: REJUDGE_DATA names the one for data."
    )
