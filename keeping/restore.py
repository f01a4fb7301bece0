"""Restoring a backup completely or not at all: its files, and its rows with new keys if needed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple
from uuid import UUID

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.core.exceptions import ValidationError
from django.core.files import File
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.core.management.color import no_style
from django.db import Error as DatabaseError
from django.db import connection, models, transaction

from annotate.collection.intake.files import Progress
from annotate.projects.actions import SLUG
from annotate.projects.audit_log import record
from annotate.projects.models import Project
from base import bulk
from base.errors import Refused
from base.texts import code_not_in_names
from base.users import User, find_account
from formats.texts import excerpt
from jobs.models import Job, job_kinds
from keeping import archive, tables

# Bytes and rows of a backup that are sent to the database at once.
_BATCH_BYTES = 4_000_000
_BATCH_ROWS = 5_000
# Raised for values of other types than the columns have, and for keys of rows that are missing.
_NOT_A_ROW = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
_SHA256 = re.compile("[0-9a-f]{64}")


class RestoreResult(NamedTuple):
    """What was restored.

    Of the accounts of a project, `found` already existed, and `made` are new and have no password
    yet.
    """

    project: str | None
    rows: int
    files: int
    missing: list[str]
    found: list[str]
    made: list[str]


def check(*, path: Path, progress: Progress) -> archive.Manifest:
    """Compare everything in a backup with its digests and return its manifest.

    Refused: a file that is damaged, is not a backup, or is of a version with other tables.
    """
    reading = archive.BackupReader(path)
    try:
        _check(reading, progress)
        return reading.manifest
    finally:
        reading.close()


def restore(*, path: Path, slug: str | None = None, progress: Progress) -> RestoreResult:
    """Restore a backup completely or not at all.

    A whole installation can be restored into an empty one, and a project into any that does not
    have it; `slug` gives the project another short name. Refused: everything else, a damaged
    backup, and one of a version with other tables.
    """
    reading = archive.BackupReader(path)
    try:
        _check(reading, progress)
        return _restore(reading, slug, progress)
    finally:
        reading.close()


def _check(reading: archive.BackupReader, progress: Progress) -> None:
    archive.refuse_other_tables(reading.manifest["migrations"], reading.manifest["version"])
    progress.start(reading.size, "Checking")
    reading.check(progress.advance)


def _restore(reading: archive.BackupReader, slug: str | None, progress: Progress) -> RestoreResult:
    manifest = reading.manifest
    is_whole = manifest["project"] is None
    if is_whole and slug is not None:
        raise Refused("This is a backup of a whole installation: its projects keep their names.")
    if slug is not None and not SLUG.fullmatch(slug):
        raise Refused(f"“{slug}” cannot be a project's short name.")
    name = None if is_whole else slug or manifest["project"]
    if name is not None and not SLUG.fullmatch(name):
        raise Refused(
            f"This backup is not valid: “{name}” cannot be a project's short name. Give it another "
            "with --as."
        )
    if archive.is_new_database():
        call_command("migrate", interactive=False, verbosity=0)
    else:
        archive.refuse_unless_up_to_date()
    if is_whole and not _is_empty():
        raise Refused(
            "This installation is not empty. A whole installation can only be restored into an "
            "empty one: set REJUDGE_DATA and DATABASE_URL to a new folder and a new database."
        )
    restored_rows = RestoredRows(reading, name, progress)
    new_files: list[str] = []
    try:
        restored_rows.refuse_unknown_tables()
        restored_rows.refuse_taken_name()
        restored_rows.refuse_second_copy()
        restored_rows.reserve_keys()
        # Before the rows, so that the files that rows name exist.
        restored_rows.files(new_files)
        with transaction.atomic():
            restored_rows.rows()
            record(
                project=None if name is None else Project.objects.get(slug=name),
                what="project.restored",
                about=reading.path.name,
                by=None,
            )
    except DatabaseError as error:
        _delete_files(new_files)
        words = " ".join(str(error).split())
        raise Refused(f"The database refused a row, so nothing was restored: {words}") from error
    except BaseException:
        _delete_files(new_files)
        raise
    return RestoreResult(
        project=name,
        rows=sum(table["rows"] for table in manifest["tables"]),
        files=len(manifest["files"]),
        missing=manifest["missing"],
        found=sorted(restored_rows.found),
        made=sorted(restored_rows.made),
    )


def _is_empty() -> bool:
    """Return whether this installation has no accounts and no projects."""
    return not (User.objects.exists() or Project._base_manager.exists())


def _delete_files(new_files: Iterable[str]) -> None:
    for name in new_files:
        default_storage.delete(name)


# --- rows and files -------------------------------------------------------------------------------


def has_numbered_keys(model: type[models.Model]) -> bool:
    """Return whether the database numbers the rows of a table."""
    return isinstance(model._meta.pk, models.AutoField)


def reserve_keys(model: type[models.Model], first: int, last: int) -> int:
    """Reserve the keys from `first` to `last`, shifted past all keys already given out.

    Returns the shift, 0 if the keys were free. Runs in its own short transaction.
    """
    shift = _shift_sequence if bulk.on_postgresql() else _shift_sqlite_sequence
    with transaction.atomic():
        return shift(model, first, last)


def _shift_sqlite_sequence(model: type[models.Model], first: int, last: int) -> int:
    # Inside a writing transaction no other connection can number rows.
    name = {"name": model._meta.db_table}
    last_given = bulk.select("SELECT seq FROM sqlite_sequence WHERE name = %(name)s", name)
    shift = max(0, last_given[0][0] - first + 1) if last_given else 0
    taken = {**name, "seq": max(last_given[0][0] if last_given else 0, last + shift)}
    if last_given:
        bulk.run("UPDATE sqlite_sequence SET seq = %(seq)s WHERE name = %(name)s", taken)
    else:
        bulk.run("INSERT INTO sqlite_sequence (name, seq) VALUES (%(name)s, %(seq)s)", taken)
    return shift


def _shift_sequence(model: type[models.Model], first: int, last: int) -> int:
    table = connection.ops.quote_name(model._meta.db_table)
    column: Any = model._meta.pk
    names = {"table": table, "column": column.column}
    with connection.cursor() as cursor:
        # Every insert locks the table before it takes a number, so no other can take one now.
        cursor.execute(f"LOCK TABLE {table} IN SHARE ROW EXCLUSIVE MODE")
        cursor.execute("SELECT pg_get_serial_sequence(%(table)s, %(column)s)", names)
        [sequence] = cursor.fetchone()
        cursor.execute(f"SELECT last_value, is_called FROM {sequence}")  # noqa: S608 (the server's)
        value, called = cursor.fetchone()
        last_given = value if called else value - 1
        shift = max(0, last_given - first + 1)
        cursor.execute("SELECT setval(%s::regclass, %s)", [sequence, max(last_given, last + shift)])
    return int(shift)


class RestoredRows:
    """Inserts the rows and files of one backup."""

    def __init__(self, reading: archive.BackupReader, slug: str | None, progress: Progress) -> None:
        self.reading = reading
        self.manifest = reading.manifest
        self.slug = slug
        self.progress = progress
        self.models = {tables.label(model): model for model in tables.every_table()}
        self.entries = reading.manifest["tables"]
        self.of_project = self.manifest["project"] is not None
        self.owned = tables.project_paths() if self.of_project else {}
        self.shifts: dict[str, int] = dict.fromkeys(self.models, 0)
        # For a project: the keys of each table's rows in the backup.
        self.reserved: dict[str, range] = {}
        # For a project: keys of accounts in the backup -> keys here.
        self.people: dict[int, int] = {}
        self.found: list[str] = []
        self.made: list[str] = []

    def refuse_taken_name(self) -> None:
        """Raise Refused if a project here already has the short name."""
        projects: Any = self.models[tables.PROJECT]
        if self.slug is not None and projects._base_manager.filter(slug=self.slug).exists():
            raise Refused(
                f"A project “{self.slug}” exists already. Give this one another short name with "
                "--as."
            )

    def refuse_second_copy(self) -> None:
        """Raise Refused if this very project is here already, under whatever short name."""
        events: Any = self.models[tables.AUDIT_EVENT]
        entries = [entry for entry in self.entries if entry["table"] == tables.AUDIT_EVENT]
        if not self.of_project or not entries:
            return
        try:
            # Of its first event: that the project was created.
            key = UUID(next(self._read(entries[0]))[entries[0]["columns"].index("uuid")])
        except (*_NOT_A_ROW, StopIteration):
            # A row that cannot be read is refused when it is inserted.
            return
        if here := events._base_manager.filter(uuid=key, project__isnull=False).first():
            slug = here.project.slug
            raise Refused(
                f"This project is here already, as “{slug}”, and answers count once in an "
                f"installation. Purge that one first ({settings.COMMAND} purge {slug}), or restore "
                "into another installation: REJUDGE_DATA and DATABASE_URL name it."
            )

    def refuse_unknown_tables(self) -> None:
        """Raise Refused for tables or columns that our models do not have, and without projects."""
        rows_by_table = {entry["table"]: entry for entry in self.entries}
        project, key = rows_by_table.get(tables.PROJECT), self.manifest["key"]
        if (
            project is None
            or tables.USER not in rows_by_table
            or (key is not None and not project["first"] == project["last"] == key)
        ):
            raise Refused("This backup is not valid: it does not have the project that it names.")
        for entry in self.entries:
            model = self.models.get(entry["table"])
            expected = {column.name for column in tables.columns(model)} if model else set()
            if self.of_project and entry["table"] == tables.USER:
                expected = {"id", *tables.PERSON_COLUMNS}
            elif entry["table"] in tables.LEFT_OUT or (
                self.of_project and entry["table"] not in self.owned
            ):
                expected = set()
            if not expected or set(entry["columns"]) != expected:
                raise Refused(
                    f"This backup is not valid: its table {entry['table']} is unknown or has other "
                    "columns."
                )

    def rows(self) -> None:
        """Insert every row."""
        entries = self.entries
        self.progress.start(sum(entry["rows"] for entry in entries), "Rows")
        for entry in entries:
            insert = (
                self._match_people
                if self.of_project and entry["table"] == tables.USER
                else self._insert_table
            )
            try:
                insert(entry)
            except _NOT_A_ROW as error:
                raise Refused(
                    f"This backup is not valid: a row of {entry['table']} cannot be read "
                    f"({type(error).__name__}: {excerpt(str(error))})."
                ) from error
        connection.check_constraints()
        if not self.of_project:
            restored_models = [self.models[entry["table"]] for entry in entries]
            with connection.cursor() as cursor:
                for statement in connection.ops.sequence_reset_sql(no_style(), restored_models):
                    cursor.execute(statement)

    def files(self, new_files: list[str]) -> None:
        """Put every file into the storage, and add the names of new ones to `new_files`."""
        entries = self.manifest["files"]
        self.progress.start(len(entries), "Files")
        for entry in entries:
            self._check_file(entry["name"])
            name = self._move_name(entry["name"])
            with (
                self.reading.member(archive.file_member(entry["name"]), entry) as member,
                TemporaryFile() as scratch,
            ):
                while part := member.read(archive.CHUNK):
                    scratch.write(part)
                member.finish()
                scratch.seek(0)
                if default_storage.exists(name):
                    if _has_same_content(name, scratch):
                        continue
                    raise Refused(
                        f"{name} exists in the storage already, with other content. Restore into "
                        "an empty folder."
                    )
                saved = default_storage.save(name, File(scratch))
                new_files.append(saved)
                if saved != name:
                    raise Refused(f"The storage saved {name} as {saved}.")
            self.progress.advance()

    def reserve_keys(self) -> None:
        """Reserve free keys for every row of a project.

        All keys of a table are shifted by the same number, so rows keep their order.
        """
        for entry in self.entries if self.of_project else ():
            model = self.models[entry["table"]]
            first, last = entry["first"], entry["last"]
            if entry["table"] == tables.USER or first is None or last is None:
                continue
            if model in job_kinds().values():
                # Tables that point to jobs come after them.
                self.shifts[entry["table"]] = self.shifts[tables.label(Job)]
                continue
            if not has_numbered_keys(model):
                continue
            self.shifts[entry["table"]] = reserve_keys(model, first, last)
            self.reserved[entry["table"]] = range(first, last + 1)

    def _key_change(self, table: str) -> Callable[[Any, list[Any]], Any] | None:
        """Return a function from a key of a table in the backup to its key here.

        Keys outside the reserved ones are refused: they could be those of other projects' rows.
        """
        key: Any = self.models[table]._meta.pk
        if key.is_relation:
            return self._key_change(tables.label(key.related_model))
        if not has_numbered_keys(self.models[table]):
            return None
        keys, shift = self.reserved.get(table, range(0)), self.shifts[table]

        def change(value: Any, _row: list[Any]) -> Any:
            if value not in keys:
                raise Refused(f"This backup is not valid: it has no row {value!r} of {table}.")
            return value + shift

        return change

    def _check_file(self, name: str) -> None:
        """Refuse a file name outside the folders of projects or, for one project, of this one."""
        if not tables.is_in_project(name, self.manifest["key"]):
            raise Refused(
                f"This backup is not valid: the file “{excerpt(name)}” is not in a folder of its "
                "project."
            )

    def _move_name(self, name: str) -> str:
        before = self.manifest["key"]
        if before is None:
            return name
        return tables.move_name(name, before, before + self.shifts[tables.PROJECT])

    # --- people -----------------------------------------------------------------------------------

    def _match_people(self, entry: archive.TableEntry) -> None:
        """Find the account of each of the project's people by user name, or create one."""
        user: Any = self.models[tables.USER]
        for row in self._read(entry):
            fields = dict(zip(entry["columns"], row, strict=True))
            key, name = fields.pop("id"), fields["username"]
            account = find_account(name, user._base_manager.all())
            if account is None:
                account = user(**fields, password=make_password(None))
                try:
                    account.full_clean()
                except ValidationError as error:
                    raise Refused(
                        f"This backup is not valid: the account “{excerpt(name)}” cannot be made: "
                        f"{' '.join(error.messages)}"
                    ) from error
                account.save()
                self.made.append(account.username)
            else:
                self.found.append(account.username)
            self.people[key] = account.pk

    # --- rows -------------------------------------------------------------------------------------

    def _read(self, entry: archive.TableEntry) -> Iterator[list[Any]]:
        width = len(entry["columns"])
        with self.reading.member(archive.rows_member(entry["table"]), entry) as member:
            for line in member.lines():
                row = archive.read_row(line)
                if len(row) != width:
                    raise Refused(
                        f"This backup is damaged: a row of {entry['table']} is incomplete."
                    )
                yield row
                self.progress.advance()

    def _insert_table(self, entry: archive.TableEntry) -> None:
        model = self.models[entry["table"]]
        _insert(model, entry["columns"], self._renewed_rows(model, entry))

    def _renewed_rows(
        self, model: tables.AnyModel, entry: archive.TableEntry
    ) -> Iterator[list[Any]]:
        """Yield the rows of a table with the values that they get here."""
        columns = {column.name: column for column in tables.columns(model)}
        at = {name: place for place, name in enumerate(entry["columns"])}
        changes: list[tuple[int, Callable[[Any, list[Any]], Any]]] = []
        for name, place in at.items():
            change = self._value_change(model, columns[name], at)
            if change is not None:
                changes.append((place, change))
        checks = [
            (place, check)
            for name, place in at.items()
            if (check := self._value_check(model, columns[name])) is not None
        ]
        for row in self._read(entry):
            for place, check in checks:
                check(row[place])
            if changes:
                before = list(row)
                for place, change in changes:
                    if row[place] is not None:
                        row[place] = change(before[place], before)
            yield row

    def _value_check(
        self, model: tables.AnyModel, column: tables.Column
    ) -> Callable[[Any], None] | None:
        """Return a function that refuses a value that nobody could have typed here, or None."""
        table = tables.label(model)
        if (table, column.name) == (tables.PROJECT, "slug"):
            return _check_slug
        is_file = column.name in tables.file_fields(model)
        if is_file or (table, column.name) in tables.FOLDER_COLUMNS:
            return lambda value: self._check_file(value) if value else None
        if (table, column.name) in tables.LISTS_OF_FILES:
            return _check_listed_files
        if (table, column.name) == ("exporters.release", "sha256"):
            return _check_sha256
        if self.of_project and table in tables.WITH_NAMES and column.name == "name":
            most = column.field.max_length
            return lambda value: _check_name(value, table, most)
        return None

    def _value_change(
        self, model: tables.AnyModel, column: tables.Column, at: Mapping[str, int]
    ) -> Callable[[Any, list[Any]], Any] | None:
        """Return a function from a column's value in the backup to its value here, or None."""
        table = tables.label(model)
        if column.field.is_relation and column.keys_of in tables.BY_NATURAL_KEY:
            find = _natural_key_lookup(self.models[column.keys_of])
            return lambda value, _: find(*value)
        if not self.of_project:
            return None
        if (table, column.name) == (tables.PROJECT, "slug"):
            return lambda _value, _row: self.slug
        if column.name in tables.file_fields(model):
            return lambda value, _: self._move_name(value)
        if (table, column.name) in tables.FOLDER_COLUMNS:
            return lambda value, _: self._move_name(value)
        if (table, column.name) in tables.KEYS_INSIDE:
            renew = tables.KEYS_INSIDE[table, column.name]
            return lambda value, row: renew(
                value, self.shifts, {name: row[place] for name, place in at.items()}
            )
        if column.keys_of == tables.USER:
            return lambda value, _: self.people[value]
        if column.keys_of in self.owned:
            return self._key_change(column.keys_of)
        if column.keys_of:
            return lambda _value, _row: None
        return None


def _check_slug(value: Any) -> None:
    if not SLUG.fullmatch(value):
        raise Refused(
            f"This backup is not valid: “{excerpt(value, 80)}” cannot be a project's short name."
        )


def _check_name(value: Any, table: str, most: int) -> None:
    if (code := code_not_in_names(value)) or len(value) > most:
        why = f"contains {code}" if code else f"has more than {most} characters"
        raise Refused(f"This backup is not valid: a name in {table} {why}.")


def _check_sha256(value: Any) -> None:
    if value and not _SHA256.fullmatch(value):
        raise Refused("This backup is not valid: a release has no checksum.")


def _check_listed_files(manifest: Any) -> None:
    """Refuse a manifest of an export or release with files outside its folder."""
    for entry in (manifest or {}).get("files", ()):
        _check_sha256(entry["sha256"])
        if not tables.is_relative(entry["name"]):
            raise Refused(
                f"This backup is not valid: it lists the file “{excerpt(entry['name'])}”."
            )


def _natural_key_lookup(model: tables.AnyModel) -> Callable[..., int]:
    """Return a function from a natural key of `model` to the row's key; it creates missing rows.

    These are rows that every installation creates itself.
    """

    @cache
    def find(*words: str) -> int:
        if tables.label(model) == "contenttypes.contenttype":
            app_label, name = words
            kind, _ = model._base_manager.get_or_create(app_label=app_label, model=name)
            return int(kind.pk)
        codename, *of = words
        kinds: Any = model._meta.get_field("content_type").related_model
        kind_key = _natural_key_lookup(kinds)(*of)
        right, _ = model._base_manager.get_or_create(
            codename=codename, content_type_id=kind_key, defaults={"name": codename}
        )
        return int(right.pk)

    return find


def _insert(model: tables.AnyModel, names: list[str], rows: Iterator[list[Any]]) -> None:
    """Insert rows into a table in batches."""
    quote = connection.ops.quote_name
    fields = {column.name: column.field for column in tables.columns(model)}
    converters = [
        (place, convert)
        for place, name in enumerate(names)
        if (convert := archive.database_converter(fields[name])) is not None
    ]

    def converted() -> Iterator[list[Any]]:
        for row in rows:
            for place, convert in converters:
                row[place] = convert(row[place])
            yield row

    table, listed = quote(model._meta.db_table), ", ".join(map(quote, names))
    for batch in _batches(converted()):
        bulk.insert(table, listed, batch)


def _batches(rows: Iterator[list[Any]]) -> Iterator[list[list[Any]]]:
    batch_rows: list[list[Any]] = []
    batch_bytes = 0
    for row in rows:
        batch_rows.append(row)
        batch_bytes += sum(len(value) for value in row if isinstance(value, (str, bytes)))
        if len(batch_rows) >= _BATCH_ROWS or batch_bytes >= _BATCH_BYTES:
            yield batch_rows
            batch_rows, batch_bytes = [], 0
    if batch_rows:
        yield batch_rows


def _has_same_content(name: str, scratch: Any) -> bool:
    """Return whether a file of the storage has the same bytes as `scratch`."""
    with default_storage.open(name, "rb") as stored:
        while True:
            kept, packed = stored.read(archive.CHUNK), scratch.read(archive.CHUNK)
            if kept != packed:
                return False
            if not kept:
                return True
