"""Where a file comes from: a path on this machine, or what a person handed in through a page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import IO, NamedTuple, cast

from django.db.models.fields.files import FieldFile

from formats.folders import Folder, ZipFolder
from formats.limits import printable
from formats.registry import Format
from formats.source import Source


class Arrived(NamedTuple):
    """A file (or folder) that can be read more than once: by records, and as the bytes it is.

    `size` is how many bytes reading takes from it, None where that is not known beforehand.
    """

    name: str
    size: int | None
    open: Callable[[Format], Source | Folder]
    content: Callable[[], IO[bytes]]


def on_disk(path: str) -> Arrived:
    """Return the file or folder at `path`, under the name it was given by."""
    place = Path(path)

    def opened(kind: Format) -> Source | Folder:
        return kind.open(path, collect=True)

    try:
        size = place.stat().st_size if place.is_file() else None
    except OSError:
        # What is wrong is said when it is opened.
        size = None
    return Arrived(printable(path), size, opened, lambda: place.open("rb"))


def handed_in(file: FieldFile, name: str) -> Arrived:
    """Return an upload in the storage, under the name it had where it came from."""

    def content() -> IO[bytes]:
        return cast("IO[bytes]", file.storage.open(file.name or "", "rb"))

    def opened(kind: Format) -> Source | Folder:
        if kind.kind == "folder":
            return ZipFolder(content(), name, collect=True)
        return Source(content(), name, collect=True)

    return Arrived(name, file.size, opened, content)
