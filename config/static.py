"""Collecting the static files, only if one of them has changed."""

from __future__ import annotations

import hashlib
from pathlib import Path

import django
from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command


def collect_static() -> bool:
    """Collect, compress and rename the static files, unless these very files were collected before.

    Returns whether anything was done.
    """
    stamp = _stamp()
    fingerprint = _fingerprint()
    if stamp.exists() and stamp.read_text(encoding="ascii") == fingerprint:
        return False
    call_command("collectstatic", interactive=False, clear=True, verbosity=0)
    stamp.write_text(fingerprint, encoding="ascii")
    return True


def is_static_collected() -> bool:
    """Return whether static files were ever collected on this machine: pages need them."""
    return _stamp().exists()


def _stamp() -> Path:
    return Path(settings.STATIC_ROOT) / ".collected"


def _fingerprint() -> str:
    """Return a digest of every file's name, size and modification time."""
    digest = hashlib.sha256(django.get_version().encode())
    for finder in get_finders():
        for name, storage in sorted(finder.list([]), key=lambda found: found[0]):
            status = Path(storage.path(name)).stat()
            digest.update(f"{name}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    return digest.hexdigest()
