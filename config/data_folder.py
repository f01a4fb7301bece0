"""The folder with the embedded database, the files and the keys of this installation."""

from __future__ import annotations

import errno
import os
import secrets
from contextlib import suppress
from pathlib import Path
from sqlite3 import SQLITE_READONLY
from tempfile import NamedTemporaryFile

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


def secret_key(data: Path) -> str:
    """Return the key in `data/secret.key`, made on first use and readable by its owner only."""
    path = data / "secret.key"
    if not path.exists():
        try:
            _make_key(path)
        except OSError as error:
            raise ImproperlyConfigured(explain_disk_error(error, data) or str(error)) from error
    # An empty key is never used.
    return path.read_text(encoding="ascii").strip() or _refuse_empty(path)


def _make_key(path: Path) -> None:
    """Make a key. Of several processes that start at once, the first one's is everybody's.

    The file gets its name when it is complete, so that no process reads half of it.
    """
    with NamedTemporaryFile("w", dir=path.parent, encoding="ascii") as file:
        file.write(secrets.token_urlsafe(50))
        file.flush()
        with suppress(FileExistsError):
            os.link(file.name, path)


def _refuse_empty(path: Path) -> str:
    raise RuntimeError(f"{path} is empty. Delete it and start again: a new key will be made.")
