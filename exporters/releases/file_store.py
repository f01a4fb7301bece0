"""The store of released files: each is stored under its sha256, and is never written again.

Nothing is ever deleted. Files of a failed attempt are reused by the next attempt, which needs the
same bytes; two releases with the same file share it.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import IO

from django.core.files import File
from django.core.files.storage import default_storage

from exporters.exports.files import BUFFER, FileFacts


class Damaged(Exception):
    """A file is missing or has changed; the message is a sentence that names it."""


def path_of(project: int, sha256: str) -> str:
    """Return the path of a file of a project (by key) within the storage."""
    return f"releases/{project}/{sha256[:2]}/{sha256}"


def store(project: int, path: Path, sha256: str) -> None:
    """Store a copy of the file at `path`, whose digest is `sha256`, unless it is already stored.

    An existing file with other bytes (a worker was killed while writing) is replaced. Raises
    `Damaged` if the storage returns other bytes than were written.
    """
    target = path_of(project, sha256)
    if default_storage.exists(target):
        if _digest(target) == sha256:
            return
        default_storage.delete(target)
    with path.open("rb") as stream:
        saved = default_storage.save(target, File(stream))
    if saved != target:
        default_storage.delete(saved)
    if _digest(target) != sha256:
        raise Damaged(f"The storage returned other bytes than were written: {path.name}.")


def find_fault(project: int, entry: FileFacts) -> str:
    """Return a sentence that says what is wrong with a stored file; "" if it is intact."""
    try:
        digest = _digest(path_of(project, entry["sha256"]))
    except FileNotFoundError:
        return f"{entry['name']} is missing."
    if digest == entry["sha256"]:
        return ""
    return f"{entry['name']} has changed: its sha256 is {digest} and should be {entry['sha256']}."


def open_checked(project: int, entry: FileFacts) -> IO[bytes]:
    """Open a stored file after verifying its checksum; raise `Damaged` if it is not intact."""
    if wrong := find_fault(project, entry):
        raise Damaged(wrong)
    return open_stored(project, entry)


def open_stored(project: int, entry: FileFacts) -> IO[bytes]:
    """Open a stored file without verifying it; raise `Damaged` if it is missing."""
    try:
        return default_storage.open(path_of(project, entry["sha256"]), "rb")
    except FileNotFoundError as missing:
        raise Damaged(f"{entry['name']} is missing.") from missing


def file_facts(path: Path, name: str, holds: str) -> FileFacts:
    """Return the facts of an existing file; `lines` is 0 for an archive."""
    digest, size, lines = hashlib.sha256(), 0, 0
    with path.open("rb") as stream:
        while part := stream.read(BUFFER):
            digest.update(part)
            size += len(part)
            lines += part.count(b"\n")
    if path.suffix == ".zip":
        lines = 0
    return FileFacts(name=name, holds=holds, lines=lines, bytes=size, sha256=digest.hexdigest())


def _digest(path: str) -> str:
    with default_storage.open(path, "rb") as stream:
        digest = hashlib.sha256()
        while part := stream.read(BUFFER):
            digest.update(part)
        return digest.hexdigest()
