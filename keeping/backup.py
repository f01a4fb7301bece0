"""Writing a backup: a consistent snapshot of rows and files, while people go on working."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from django.apps import apps
from django.conf import settings
from django.core.files.storage import default_storage
from django.db import connection, models
from django.utils import timezone

from annotate.collection.intake.files import Progress
from annotate.projects.audit_log import record
from annotate.projects.models import Project
from base.errors import Refused
from base.snapshot import snapshot
from keeping import archive, tables

# Rows fetched at once: by default, and from tables that may have long texts.
_CHUNK, _SMALL_CHUNK = 2_000, 50
_LONG_TYPES = {"TextField", "JSONField"}


class BackupCounts(NamedTuple):
    """Counts of what a backup contains."""

    rows: int
    files: int
    missing: list[str]
    bytes: int


def back_up(*, path: Path, project: str | None = None, progress: Progress) -> BackupCounts:
    """Write a backup of the whole installation, or of one project (its short name), to a new file.

    The backup is complete or not written at all, and consistent; nobody has to wait for it. Memory
    use does not depend on its size. Refused: a file that already exists, a project that does not, a
    database that is not up to date.
    """
    archive.refuse_unless_up_to_date()
    project_row = None
    if project is not None:
        project_row = Project.objects.filter(slug=project).first()
        if project_row is None:
            raise Refused(f"There is no project “{project}”.")
    backup = archive.BackupWriter(path)
    try:
        with snapshot():
            manifest = _write(backup, project_row, progress)
        backup.close(manifest)
    except BaseException:
        backup.discard()
        raise
    # Whoever has the file has all of the data, so the audit log keeps a record of it.
    record(project=project_row, what="project.backed_up", about=path.name, by=None)
    return BackupCounts(
        rows=sum(table["rows"] for table in manifest["tables"]),
        files=len(manifest["files"]),
        missing=manifest["missing"],
        bytes=path.stat().st_size,
    )


class _TablePart(NamedTuple):
    """The rows and columns of one table to write."""

    model: tables.AnyModel
    rows: models.QuerySet[Any]
    columns: list[tables.Column]


def _write(
    backup: archive.BackupWriter, project_row: Project | None, progress: Progress
) -> archive.Manifest:
    parts = _installation_parts() if project_row is None else _project_parts(project_row)
    progress.start(sum(part.rows.count() for part in parts), "Rows")
    table_entries = [_write_rows(backup, part, progress) for part in parts]
    file_names = tables.file_names_in_rows(project_row.pk if project_row else None)
    progress.start(len(file_names), "Files")
    entries, missing = [], []
    for name in file_names:
        entry = _write_file(backup, name)
        if entry is None:
            missing.append(name)
        else:
            entries.append(entry)
        progress.advance()
    return archive.Manifest(
        rejudge_backup=archive.FORMAT,
        version=settings.VERSION,
        made_at=timezone.now().isoformat(),
        database=connection.vendor,
        project=project_row.slug if project_row else None,
        key=project_row.pk if project_row else None,
        migrations=archive.latest_migrations(),
        tables=table_entries,
        files=entries,
        missing=missing,
        left_out=tables.LEFT_OUT
        if project_row is None
        else tables.LEFT_OUT | tables.NOT_OF_A_PROJECT,
    )


def _installation_parts() -> list[_TablePart]:
    return [
        _TablePart(model, model._base_manager.all(), tables.columns(model))
        for model in tables.kept_tables()
    ]


def _project_parts(project: Project) -> list[_TablePart]:
    user = apps.get_model(tables.USER)
    people = user._base_manager.filter(pk__in=tables.people_of_project(project.pk))
    person_columns = {"id", *tables.PERSON_COLUMNS}
    return [
        _TablePart(
            user,
            people,
            [column for column in tables.columns(user) if column.name in person_columns],
        ),
        *(
            _TablePart(
                model,
                model._base_manager.filter(**{path: project.pk}),
                tables.columns(model),
            )
            for model, path in tables.tables_of_a_project()
        ),
    ]


def _write_rows(
    backup: archive.BackupWriter, part: _TablePart, progress: Progress
) -> archive.TableEntry:
    """Write the rows of a table, in the order of their keys."""
    model, columns = part.model, part.columns
    key = model._meta.pk.attname
    place = [column.field.attname for column in columns].index(key)
    finders = [
        (at, _natural_key_finder(column.field.related_model))
        for at, column in enumerate(columns)
        if column.keys_of in tables.BY_NATURAL_KEY
    ]
    long = any(archive.field_type(column.field) in _LONG_TYPES for column in columns)
    rows = part.rows.order_by(key).values_list(*(column.field.attname for column in columns))
    count, first, last = 0, None, None
    with backup.member(archive.rows_member(tables.label(model))) as stream:
        for row in rows.iterator(chunk_size=_SMALL_CHUNK if long else _CHUNK):
            if finders:
                row = _with_natural_keys(row, finders)
            stream.write(archive.write_row(row))
            last = row[place]
            first = last if first is None else first
            count += 1
            progress.advance()
    return archive.TableEntry(
        **stream.entry,
        table=tables.label(model),
        columns=[column.name for column in columns],
        rows=count,
        first=first if isinstance(first, int) else None,
        last=last if isinstance(last, int) else None,
    )


def _natural_key_finder(model: tables.AnyModel) -> Any:
    """Return a function that maps a key of `model`, which no backup keeps, to its natural key."""

    @cache
    def natural_key(key: int | None) -> tuple[str, ...] | None:
        if key is None:
            return None
        row: Any = model._base_manager.get(pk=key)
        return tuple(row.natural_key())

    return natural_key


def _with_natural_keys(row: Sequence[Any], finders: Sequence[tuple[int, Any]]) -> list[Any]:
    replaced = list(row)
    for place, find in finders:
        replaced[place] = find(replaced[place])
    return replaced


def _write_file(backup: archive.BackupWriter, name: str) -> archive.FileEntry | None:
    """Write a file of the storage. Return None if it does not exist."""
    try:
        stored = default_storage.open(name, "rb")
    except FileNotFoundError:
        return None
    with stored, backup.member(archive.file_member(name)) as stream:
        while part := stored.read(archive.CHUNK):
            stream.write(part)
    return archive.FileEntry(**stream.entry, name=name)
