"""Files to load, from a path on this machine or an upload, and receivers of a load's progress."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import IO, NamedTuple, Protocol, cast

from django.db.models.fields.files import FieldFile

from formats.folders import Folder, ZipFolder
from formats.registry import Format
from formats.source import Source
from formats.texts import printable


class InputFile(NamedTuple):
    """A file (or folder) that can be read more than once: as records, and as bytes.

    `size` is the number of bytes to read, None if it is not known beforehand.
    """

    name: str
    size: int | None
    open: Callable[[Format], Source | Folder]
    content: Callable[[], IO[bytes]]


def file_on_disk(path: str) -> InputFile:
    """Return the file or folder at `path`, named by that path."""
    place = Path(path)

    def opened(kind: Format) -> Source | Folder:
        return kind.open(path, collect=True)

    try:
        size = place.stat().st_size if place.is_file() else None
    except OSError:
        # Opening it reports the error.
        size = None
    return InputFile(printable(path), size, opened, lambda: place.open("rb"))


def uploaded_file(file: FieldFile, name: str) -> InputFile:
    """Return an upload in the storage, named as on the uploader's computer."""

    def content() -> IO[bytes]:
        return cast("IO[bytes]", file.storage.open(file.name or "", "rb"))

    def opened(kind: Format) -> Source | Folder:
        if kind.kind == "folder":
            return ZipFolder(content(), name, collect=True)
        return Source(content(), name, collect=True)

    return InputFile(name, file.size, opened, content)


class Progress(Protocol):
    """Receives the progress of a load. May raise to stop the work; then nothing is loaded."""

    def start(self, total: int | None, step: str) -> None:
        """Begin a step of `total` units (None: not known), named in words."""

    def advance(self, n: int = 1) -> None:
        """Count `n` units as done."""


class NoProgress:
    """Ignores the progress."""

    def start(self, total: int | None, step: str) -> None:
        """Do nothing."""

    def advance(self, n: int = 1) -> None:
        """Do nothing."""
