"""Every format by name: what it is called on screen, what it yields, how it is read and written.

Registering is adding a line to FORMATS. docs/formats.md lists the same names; a test holds the two
together, another sends every writer's output through its reader.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

from formats.records import Record
from formats.source import Folder, Source, open_folder, open_source


class UnknownFormat(KeyError):
    """A format name that is not in FORMATS; the message lists those that are."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(name)

    def __str__(self) -> str:
        return f"unknown format {self.name!r}; known are: {', '.join(FORMATS)}"


class Format(NamedTuple):
    """One format. `read` takes a Source (kind "file") or a Folder (kind "folder").

    `write(records, stream)` takes a binary stream, returns how many records it wrote, and raises
    ValueError for a record the format cannot hold (white space in an id). A folder is written as a
    zip archive. None: this format is only read.
    """

    name: str
    title: str
    description: str
    kind: Literal["file", "folder"]
    reads: tuple[type[Any], ...]
    read: Callable[[Any], Iterator[Record]]
    write: Callable[[Iterable[Any], IO[bytes]], int] | None
    suffixes: tuple[str, ...]

    def open(self, path: str | Path, *, collect: bool = False) -> Source | Folder:
        """What is at `path` as this format's `read` wants it; FormatError with a sentence."""
        if self.kind == "folder":
            return open_folder(path, collect=collect)
        return open_source(path, collect=collect)


FORMATS: dict[str, Format] = {}


def lookup(name: str) -> Format:
    """The format of that name; raises UnknownFormat with the list of known names."""
    try:
        return FORMATS[name]
    except KeyError:
        raise UnknownFormat(name) from None
