"""The installation's secret key, generated once and kept with the data."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from config.data_folder import explain_disk_error


def secret_key(data: Path) -> str:
    """Return the key in `data/secret.key`, made on first use and readable by its owner only."""
    path = data / "secret.key"
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        # Another process may be about to write the key; an empty one is never used.
        return path.read_text(encoding="ascii").strip() or _refuse_empty(path)
    key = secrets.token_urlsafe(50)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(key)
    except OSError as error:
        path.unlink()
        raise ImproperlyConfigured(explain_disk_error(error, data) or str(error)) from error
    return key


def _refuse_empty(path: Path) -> str:
    raise RuntimeError(f"{path} is empty. Delete it and start again: a new key will be made.")
