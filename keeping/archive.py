"""The file format of a backup: a zip archive, written and read as a stream, whatever its size.

`rows/<table>.jsonl` has a line for each row, `files/<name>` are the unchanged files of the storage,
and `manifest.json`, written last, lists everything with its SHA-256 digest.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TypedDict, cast

from base.errors import Refused

FORMAT = 1
MANIFEST = "manifest.json"
CHUNK = 1024 * 1024
# Files that are already compressed do not get smaller.
_COMPRESSED = (".zip", ".gz", ".xz", ".bz2", ".zst", ".png", ".jpg")
# Good enough for text, and several times faster than the default.
_LEVEL = 3
_DATE = (1980, 1, 1, 0, 0, 0)
_MODE = 0o600 << 16


class Entry(TypedDict):
    """One member of the archive: its uncompressed size in bytes, and its digest."""

    bytes: int
    sha256: str


class TableEntry(Entry):
    """The rows of a table, in the order of their keys.

    `first` and `last` are the first and last key if keys are numbers, else null.
    """

    table: str
    columns: list[str]
    rows: int
    first: int | None
    last: int | None


class FileEntry(Entry):
    """A file, by its name within the storage."""

    name: str


class Manifest(TypedDict):
    """The description of a backup and its contents.

    `project` is the short name of the one project, null for a whole installation; `key` is its key.
    `migrations` has the last migration of each app. `missing` lists files that rows name but that
    did not exist. `left_out` maps each table that is not backed up to the reason.
    """

    rejudge_backup: int
    version: str
    made_at: str
    database: str
    project: str | None
    key: int | None
    migrations: dict[str, str]
    tables: list[TableEntry]
    files: list[FileEntry]
    missing: list[str]
    left_out: dict[str, str]


class HashingWriter:
    """A stream into a member that counts and hashes the bytes written."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._sha256 = hashlib.sha256()
        self._bytes = 0

    def write(self, data: bytes) -> None:
        """Write `data` to the member."""
        self._stream.write(data)
        self._sha256.update(data)
        self._bytes += len(data)

    @property
    def entry(self) -> Entry:
        """Return the size and digest of what was written so far."""
        return Entry(bytes=self._bytes, sha256=self._sha256.hexdigest())


class BackupWriter:
    """A backup being written, readable by its owner only; `close` gives it its final name."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._part = path.with_name(path.name + ".part")
        if path.exists():
            raise Refused(f"{path} already exists. Choose another name, or delete it first.")
        # An earlier attempt that was interrupted may have left this file behind.
        self._part.unlink(missing_ok=True)
        descriptor = os.open(self._part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        self._file = os.fdopen(descriptor, "w+b")
        self._zip = zipfile.ZipFile(self._file, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL)

    @contextmanager
    def member(self, name: str) -> Iterator[HashingWriter]:
        """Open the next member for writing."""
        with self._zip.open(_zip_info(name), "w", force_zip64=True) as stream:
            yield HashingWriter(stream)

    def close(self, manifest: Manifest) -> None:
        """Write the manifest, and rename the backup once all of it is on the disk."""
        text = json.dumps(manifest, ensure_ascii=False, indent=1)
        with self._zip.open(_zip_info(MANIFEST), "w") as stream:
            stream.write(text.encode())
        self._zip.close()
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        self._part.rename(self.path)

    def discard(self) -> None:
        """Delete the unfinished file."""
        with suppress(OSError):
            self._zip.close()
        with suppress(OSError):
            self._file.close()
        self._part.unlink(missing_ok=True)


class BackupReader:
    """An existing backup, open for reading. Any fault in it raises Refused with a sentence."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._zip = zipfile.ZipFile(path)
            text = self._zip.read(MANIFEST)
            manifest = json.loads(text)
        except FileNotFoundError as error:
            raise Refused(f"There is no file {path}.") from error
        except (OSError, zipfile.BadZipFile, KeyError, ValueError) as error:
            raise Refused(f"{path} is not a backup, or only part of one: {error}.") from error
        if not isinstance(manifest, dict) or "rejudge_backup" not in manifest:
            # A truncated backup may end in one of its files that is itself an archive.
            raise Refused(f"{path} is not a backup of Rejudge, or only part of one.")
        if manifest["rejudge_backup"] != FORMAT:
            raise Refused(
                f"{path} has a later backup format ({manifest['rejudge_backup']}), made by Rejudge "
                f"{manifest.get('version')}. Update Rejudge first."
            )
        self.manifest = cast(Manifest, manifest)

    def close(self) -> None:
        """Close the file."""
        self._zip.close()

    def check(self, advance: Callable[[int], None]) -> None:
        """Read everything and compare it with its digests; call `advance` with the bytes read."""
        for name, entry in self.members():
            with self.member(name, entry) as stream:
                while part := stream.read(CHUNK):
                    advance(len(part))

    def members(self) -> Iterator[tuple[str, Entry]]:
        """Yield every member except the manifest."""
        for table in self.manifest["tables"]:
            yield rows_member(table["table"]), table
        for file in self.manifest["files"]:
            yield file_member(file["name"]), file

    @property
    def size(self) -> int:
        """Return the uncompressed size of all members in bytes."""
        return sum(entry["bytes"] for _, entry in self.members())

    @contextmanager
    def member(self, name: str, entry: Entry) -> Iterator[CheckingReader]:
        """Open a member; raise Refused if it turns out to be damaged."""
        try:
            opened = self._zip.open(name)
        except (KeyError, zipfile.BadZipFile) as error:
            raise Refused(f"{self.path} is damaged: {name} cannot be read ({error}).") from error
        with opened as stream:
            compared = CheckingReader(stream, entry, f"{self.path} is damaged: {name}")
            yield compared
            compared.finish()


class CheckingReader:
    """A member that is hashed while it is read; `finish` compares its digest."""

    def __init__(self, stream: IO[bytes], entry: Entry, damaged: str) -> None:
        self._stream = stream
        self._entry = entry
        self._damaged = damaged
        self._sha256 = hashlib.sha256()
        self._bytes = 0

    def read(self, size: int) -> bytes:
        """Return at most `size` more bytes; empty at the end."""
        return self._read_checked(lambda: self._stream.read(size))

    def lines(self) -> Iterator[bytes]:
        """Yield the remaining lines."""
        while line := self._read_checked(self._stream.readline):
            yield line

    def finish(self) -> None:
        """Read to the end; raise Refused unless size and digest are those of the manifest."""
        while self.read(CHUNK):
            pass
        if Entry(bytes=self._bytes, sha256=self._sha256.hexdigest()) != Entry(
            bytes=self._entry["bytes"], sha256=self._entry["sha256"]
        ):
            raise Refused(f"{self._damaged} does not match its digest.")

    def _read_checked(self, read: Callable[[], bytes]) -> bytes:
        try:
            data = read()
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
            raise Refused(f"{self._damaged} cannot be read ({error}).") from error
        self._sha256.update(data)
        self._bytes += len(data)
        if self._bytes > self._entry["bytes"]:
            raise Refused(f"{self._damaged} is longer than it was when written.")
        return data


def rows_member(table: str) -> str:
    """Return the name of the member with the rows of a table."""
    return f"rows/{table}.jsonl"


def file_member(name: str) -> str:
    """Return the name of the member with a file of the storage."""
    return f"files/{name}"


def _zip_info(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _DATE)
    entry.compress_type = (
        zipfile.ZIP_STORED if name.lower().endswith(_COMPRESSED) else zipfile.ZIP_DEFLATED
    )
    # A member that is opened for writing ignores the archive's own compression level.
    entry._compresslevel = _LEVEL  # type: ignore[attr-defined]
    entry.create_system = 3
    entry.external_attr = _MODE
    return entry
