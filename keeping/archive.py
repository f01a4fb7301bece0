"""The file format of a backup: a zip archive, written and read as a stream, whatever its size.

`rows/<table>.jsonl` has a line for each row, `files/<name>` are the unchanged files of the storage,
and `manifest.json`, written last, lists everything with its SHA-256 digest.
"""

from __future__ import annotations

import base64
import hashlib
import json
import lzma
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import IO, Any, TypedDict, cast
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from rest_framework import serializers

from base.api.records import RecordSerializer
from base.database_version import unapplied_migrations
from base.errors import Refused
from base.texts import code_not_in_names
from formats.texts import excerpt

Converter = Callable[[Any], Any]

# Types of fields whose values are JSON already.
PLAIN = {
    *("AutoField", "BigAutoField", "SmallAutoField"),
    *("IntegerField", "BigIntegerField", "SmallIntegerField", "FloatField", "BooleanField"),
    *("PositiveIntegerField", "PositiveBigIntegerField", "PositiveSmallIntegerField"),
    *("CharField", "TextField", "SlugField", "EmailField", "URLField"),
    *("FileField", "FilePathField", "GenericIPAddressField"),
}
# Types of fields whose values are written as text, with the function that parses the text.
_PARSERS: dict[str, Converter] = {
    "DateTimeField": datetime.fromisoformat,
    "DateField": date.fromisoformat,
    "TimeField": time.fromisoformat,
    "DecimalField": Decimal,
    "UUIDField": UUID,
    "BinaryField": base64.b64decode,
}
KINDS = {*PLAIN, *_PARSERS, "JSONField"}


FORMAT = 1
MANIFEST = "manifest.json"
CHUNK = 1024 * 1024
# A larger manifest is not one of ours: it has some 200 bytes for each file.
_MOST_MANIFEST = 500_000_000
# Higher keys would use up those that the database can give out afterwards.
_HIGHEST_KEY = 10**12
# Files that are already compressed do not get smaller.
_COMPRESSED = (".zip", ".gz", ".xz", ".bz2", ".zst", ".png", ".jpg")
# Good enough for text, and several times faster than the default.
_LEVEL = 3
_DATE = (1980, 1, 1, 0, 0, 0)
_MODE = 0o600 << 16
# What zipfile and json raise for damaged, encrypted and foreign archives.
_UNREADABLE = (OSError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error, lzma.LZMAError)


def stored_field(field: Any) -> Any:
    """Return the field; of a foreign key, the key that it points to."""
    while field.is_relation:
        field = field.target_field
    return field


def field_type(field: Any) -> str:
    """Return the internal type of a field; of a foreign key, that of the key it points to."""
    return str(stored_field(field).get_internal_type())


def write_row(row: Any) -> bytes:
    """Return one row, a sequence of values from the models, as a line of a backup."""
    text = json.dumps(row, ensure_ascii=False, separators=(",", ":"), default=_as_text)
    # JSON in SQLite may contain a lone surrogate; it is restored unchanged.
    return text.encode("utf-8", "surrogatepass") + b"\n"


def _as_text(value: Any) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, (bytes, memoryview)):
        return base64.b64encode(value).decode()
    if isinstance(value, (UUID, Decimal)):
        return str(value)
    raise TypeError(f"a backup cannot hold {type(value).__name__}")


def read_row(line: bytes) -> list[Any]:
    """Parse a line of a backup into a list of values; types that JSON lacks stay strings."""
    row: list[Any] = json.loads(line.decode("utf-8", "surrogatepass"))
    return row


def database_converter(field: Any) -> Converter | None:
    """Return a function from a parsed value to one for this database, or None if not needed."""
    kind = field_type(field)
    if kind == "JSONField":
        return _json_or_null if field.null else _json
    if kind in PLAIN:
        return None
    stored, parse = stored_field(field), _PARSERS[kind]
    return lambda value: stored.get_db_prep_value(
        None if value is None else parse(value), connection, prepared=True
    )


def _json(value: Any) -> str:
    return json.dumps(value)


def _json_or_null(value: Any) -> str | None:
    return None if value is None else json.dumps(value)


def latest_migrations() -> dict[str, str]:
    """Return the last migration in this version of each app that has tables."""
    leaves = MigrationLoader(None).graph.leaf_nodes()
    return {str(app): str(name) for app, name in sorted(leaves)}


def is_new_database() -> bool:
    """Return whether no migration was ever applied to this database."""
    return not MigrationRecorder(connection).applied_migrations()


def refuse_unless_up_to_date() -> None:
    """Raise Refused if a migration is not applied yet."""
    if unapplied_migrations():
        raise Refused(f"The database is not up to date. Run {settings.COMMAND} prepare first.")


def refuse_other_tables(migrations: Mapping[str, str], version: str) -> None:
    """Raise Refused for a backup that was made with other migrations than this version has."""
    if migrations != latest_migrations():
        raise Refused(
            f"This backup was made by Rejudge {version}, whose tables differ from those of this "
            "version. Restore it with that version."
        )


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


class _TableFields(RecordSerializer):
    first = serializers.IntegerField(allow_null=True, min_value=1, max_value=_HIGHEST_KEY)
    last = serializers.IntegerField(allow_null=True, min_value=1, max_value=_HIGHEST_KEY)
    rows = serializers.IntegerField(min_value=0)

    class Meta:
        record = TableEntry


class _FileFields(RecordSerializer):
    name = serializers.CharField(trim_whitespace=False)

    class Meta:
        record = FileEntry


class _ManifestFields(RecordSerializer):
    """The fields of a manifest with their types."""

    missing = serializers.ListField(child=serializers.CharField(trim_whitespace=False))

    class Meta:
        record = Manifest

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require a key for a project, and none for a whole installation."""
        if (attrs["project"] is None) != (attrs["key"] is None):
            raise serializers.ValidationError({"key": ["Given with a project only."]})
        return attrs


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
        try:
            descriptor = os.open(self._part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as error:
            error.filename = str(path)
            raise
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
            if self._zip.getinfo(MANIFEST).file_size > _MOST_MANIFEST:
                raise ValueError("its manifest is too large")
            manifest = json.loads(self._zip.read(MANIFEST))
        except FileNotFoundError as error:
            raise Refused(f"There is no file {path}.") from error
        except (*_UNREADABLE, KeyError, ValueError) as error:
            raise Refused(
                f"{path} is not a backup, or only part of one: {excerpt(str(error))}."
            ) from error
        if not isinstance(manifest, dict) or "rejudge_backup" not in manifest:
            # A truncated backup may end in one of its files that is itself an archive.
            raise Refused(f"{path} is not a backup of Rejudge, or only part of one.")
        if manifest["rejudge_backup"] != FORMAT:
            raise Refused(
                f"{path} has a later backup format, made by Rejudge "
                f"{excerpt(str(manifest.get('version')), 40)}. Update Rejudge first."
            )
        if code := next(filter(None, map(code_not_in_names, _texts(manifest))), ""):
            raise Refused(f"{path} is not a valid backup: its manifest contains {code}.")
        fields = _ManifestFields(data=manifest)
        if not fields.is_valid():
            raise Refused(
                f"{path} is not a valid backup: these fields of its manifest are missing or "
                f"wrong: {', '.join(fields.errors)}."
            )
        self.manifest = cast(Manifest, fields.validated_data)

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
        except (*_UNREADABLE, KeyError) as error:
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
        except _UNREADABLE as error:
            raise Refused(f"{self._damaged} cannot be read ({error}).") from error
        self._sha256.update(data)
        self._bytes += len(data)
        if self._bytes > self._entry["bytes"]:
            raise Refused(f"{self._damaged} is longer than it was when written.")
        return data


def _texts(value: Any) -> Iterator[str]:
    """Yield every text inside a JSON value, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for part in value:
            yield from _texts(part)
        if isinstance(value, dict):
            yield from _texts(list(value.values()))


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
