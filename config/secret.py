"""The installation's secret key, generated once and kept with the data."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

from django.core.exceptions import ImproperlyConfigured

from config.data_folder import explain_disk_error


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
