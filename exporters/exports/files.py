"""Write, pack, read and delete the files of exports."""

from __future__ import annotations

import hashlib
import io
import shutil
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any, NamedTuple, TypedDict, TypeVar

from django.core.files.storage import default_storage

from formats.texts import CannotHold

# Called with the number of further rows.
Report = Callable[[int], None]

STEP = 1_000
# The file with the results of each tool that read a folder.
PROOF = "proof.json"

T = TypeVar("T")


BUFFER = 1024 * 1024
# Metadata of every file in an archive. Constant, so that archives do not differ between days or
# machines.
_ZIP_DATE = (1980, 1, 1, 0, 0, 0)
_ZIP_MODE = 0o644 << 16


def report_rows(rows: Iterable[T], report: Report) -> Iterator[T]:
    """Yield the rows unchanged, and report them STEP at a time."""
    waiting = iter(rows)
    while some := list(islice(waiting, STEP)):
        report(len(some))
        yield from some


class FileFacts(TypedDict):
    """A file of an export: its name, a description, its size and its checksum."""

    name: str
    holds: str
    lines: int
    bytes: int
    sha256: str


def has_only_heading(facts: FileFacts) -> bool:
    """Return whether a file is a table without rows: each .tsv and .csv file has a heading."""
    return facts["name"].endswith((".tsv", ".csv")) and facts["lines"] == 1


class Edition(NamedTuple):
    """The release that files belong to: its name, and the date of its rows as in 2026-03-01."""

    name: str
    date: str


class Writer:
    """Writes the files of one export into a folder, and records their facts in `files`.

    `edition`: the release that the export belongs to, if it is part of one.
    """

    def __init__(self, folder: Path, edition: Edition | None = None) -> None:
        self.folder = folder
        self.edition = edition
        self.files: list[FileFacts] = []

    @contextmanager
    def file(self, name: str, holds: str) -> Iterator[IO[bytes]]:
        """Open a new file for writing; its facts are complete once it closes without an error.

        Raises CannotHold for a name that leads out of the folder.
        """
        path = self.folder / name
        if not path.resolve().is_relative_to(self.folder.resolve()):
            raise CannotHold(f"the file {name!r} would be outside of the folder of the export")
        path.parent.mkdir(parents=True, exist_ok=True)
        facts = FileFacts(name=name, holds=holds, lines=0, bytes=0, sha256="")
        self.files.append(facts)
        raw = _Measured(path)
        with io.BufferedWriter(raw, BUFFER) as stream:
            yield stream
        facts["lines"], facts["bytes"] = raw.lines, raw.bytes
        facts["sha256"] = raw.sha256.hexdigest()

    @contextmanager
    def open_together(self, holds: Mapping[str, str]) -> Iterator[list[IO[bytes]]]:
        """Open several new files at once; `holds` maps the name of each to its description."""
        with ExitStack() as stack:
            yield [stack.enter_context(self.file(name, words)) for name, words in holds.items()]


class _Measured(io.FileIO):
    """A new file that counts and hashes what is written to it."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "x")
        self.lines = 0
        self.bytes = 0
        self.sha256 = hashlib.sha256()

    def write(self, data: Any) -> int:
        with memoryview(data) as view, view[: super().write(data)] as done:
            self.sha256.update(done)
            self.bytes += len(done)
            self.lines += bytes(done).count(b"\n")
            return len(done)


def pack(folder: Path, names: Iterable[str], stream: IO[bytes], *, top: str) -> None:
    """Write the named files of `folder` as a zip archive, which unpacks into a folder `top`.

    The same files make the same bytes, so `top` names no export and no release.
    """
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(names):
            entry = zipfile.ZipInfo(f"{top}/{name}", _ZIP_DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = _ZIP_MODE
            path = folder / name
            entry.file_size = path.stat().st_size
            with path.open("rb") as source, archive.open(entry, "w") as target:
                shutil.copyfileobj(source, target, BUFFER)


def distinct_names(names: Iterable[str], reserved: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield each name, with a number in front if it is taken, ignoring case, or begins like a
    reserved one.
    """
    taken: set[str] = set()
    for plain in names:
        name, number = plain, 1
        while name.casefold() in taken or f"{name}.".casefold().startswith(reserved):
            number += 1
            name = f"{number}-{plain}"
        taken.add(name.casefold())
        yield name


def write_row(stream: IO[bytes], *fields: object) -> None:
    """Write one line of a table; None is empty. No field may hold a tab or a line end."""
    cells = ("" if field is None else str(field) for field in fields)
    stream.write(("\t".join(cells) + "\n").encode())


def read_rows(path: Path) -> list[list[str]]:
    """Read the fields of each line of such a table, without its heading; [] if there is none."""
    if not path.exists():
        return []
    _heading, *rows = path.read_text(encoding="utf-8").split("\n")
    return [row.split("\t") for row in rows if row]


def delete_folder(path: str) -> int:
    """Delete a folder of the storage with its content, if any; return how many files it had."""
    try:
        folders, files = default_storage.listdir(path)
    except FileNotFoundError:
        return 0
    for name in files:
        default_storage.delete(f"{path}/{name}")
    deleted = len(files) + sum(delete_folder(f"{path}/{name}") for name in folders)
    default_storage.delete(path)
    return deleted
