"""The installation's secret key: made once and kept beside the data."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def secret_key(data: Path) -> str:
    """Return the key kept in `data/secret.key`, made on first use, readable by its owner only."""
    path = data / "secret.key"
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        # Another process may be about to write it: an empty key is never used.
        return path.read_text(encoding="ascii").strip() or _wait_for(path)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        key = secrets.token_urlsafe(50)
        file.write(key)
    return key


def _wait_for(path: Path) -> str:
    raise RuntimeError(f"{path} is empty. Delete it and start again: a new key will be made.")
