"""Writing a backup: a consistent snapshot of rows and files, while people go on working."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from django.apps import apps
from django.conf import settings
from django.core.files.storage import default_storage
from django.db import connection, models
from django.utils import timezone

from annotate.collection.intake import slices
from annotate.collection.intake.progress import Progress
from annotate.projects.audit_log import record
from annotate.projects.models import Project
from base.errors import Refused
from base.snapshot import snapshot
from keeping import archive, files, migration_state, tables, values

# Rows fetched at once: by default, and from tables that may have long texts.
_MANY, _FEW = 2_000, 50
_LONG = {"TextField", "JSONField"}


class BackedUp(NamedTuple):
    """Counts of what a backup contains."""

    rows: int
    files: int
    missing: list[str]
    bytes: int


def back_up(*, path: Path, project: str | None = None, progress: Progress) -> BackedUp:
    """Write a backup of the whole installation, or of one project (its short name), to a new file.

    The backup is complete or not written at all, and consistent; nobody has to wait for it. Memory
    use does not depend on its size. Refused: a file that already exists, a project that does not, a
    database that is not up to date.
    """
    migration_state.refuse_unless_up_to_date()
    of = None
    if project is not None:
        of = Project.objects.filter(slug=project).first()
        if of is None:
            raise Refused(f"There is no project “{project}”.")
    writing = archive.Writing(path)
    try:
        with _one_moment(progress):
            manifest = _write(writing, of, progress)
        writing.close(manifest)
    except BaseException:
        writing.drop()
        raise
    # Whoever has the file has all of the data, so the audit log keeps a record of it.
    record(project=of, what="project.backed_up", about=path.name, by=None)
    return BackedUp(
        rows=sum(table["rows"] for table in manifest["tables"]),
        files=len(manifest["files"]),
        missing=manifest["missing"],
        bytes=path.stat().st_size,
    )


@contextmanager
def _one_moment(progress: Progress) -> Iterator[None]:
    """Let every query inside read the same snapshot, in which no load is half written."""
    with ExitStack() as stack:
        with slices.turn(progress):
            stack.enter_context(snapshot())
            # On SQLite the snapshot is taken at the first read.
            Project.objects.exists()
        yield


class _Part(NamedTuple):
    """The rows and columns of one table to write."""

    model: tables.AnyModel
    rows: models.QuerySet[Any]
    columns: list[tables.Column]


def _write(writing: archive.Writing, of: Project | None, progress: Progress) -> archive.Manifest:
    parts = _whole() if of is None else _of_project(of)
    progress.start(sum(part.rows.count() for part in parts), "Rows")
    kept = [_rows(writing, part, progress) for part in parts]
    named = files.named_by_rows(of.pk if of else None)
    progress.start(len(named), "Files")
    entries, missing = [], []
    for name in named:
        entry = _file(writing, name)
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
        project=of.slug if of else None,
        key=of.pk if of else None,
        migrations=migration_state.latest(),
        tables=kept,
        files=entries,
        missing=missing,
        left_out=tables.LEFT_OUT if of is None else tables.LEFT_OUT | tables.NOT_OF_A_PROJECT,
    )


def _whole() -> list[_Part]:
    return [
        _Part(model, model._base_manager.all(), tables.columns(model))
        for model in tables.kept_tables(apps)
    ]


def _of_project(project: Project) -> list[_Part]:
    user = apps.get_model(tables.USER)
    people = user._base_manager.filter(pk__in=tables.people_of(apps, project.pk))
    known = {"id", *tables.OF_A_PERSON}
    return [
        _Part(user, people, [one for one in tables.columns(user) if one.name in known]),
        *(
            _Part(
                model,
                model._base_manager.filter(**{path: project.pk}),
                tables.columns(model),
            )
            for model, path in tables.tables_of_a_project(apps)
        ),
    ]


def _rows(writing: archive.Writing, part: _Part, progress: Progress) -> archive.TableEntry:
    """Write the rows of a table, in the order of their keys."""
    model, columns = part.model, part.columns
    key = model._meta.pk.attname
    place = [column.field.attname for column in columns].index(key)
    words = [
        (at, _words_of(column.field.related_model))
        for at, column in enumerate(columns)
        if column.keys_of in tables.BY_WORDS
    ]
    long = any(values.kind_of(column.field) in _LONG for column in columns)
    rows = part.rows.order_by(key).values_list(*(column.field.attname for column in columns))
    count, first, last = 0, None, None
    with writing.member(archive.rows_of(tables.label(model))) as stream:
        for row in rows.iterator(chunk_size=_FEW if long else _MANY):
            if words:
                row = _with_words(row, words)
            stream.write(values.written(row))
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


def _words_of(model: tables.AnyModel) -> Any:
    """Return a function that maps a key of `model`, which no backup keeps, to its natural key."""

    @cache
    def words(key: int | None) -> tuple[str, ...] | None:
        if key is None:
            return None
        found: Any = model._base_manager.get(pk=key)
        return tuple(found.natural_key())

    return words


def _with_words(row: Sequence[Any], words: Sequence[tuple[int, Any]]) -> list[Any]:
    said = list(row)
    for place, find in words:
        said[place] = find(said[place])
    return said


def _file(writing: archive.Writing, name: str) -> archive.FileEntry | None:
    """Write a file of the storage. Return None if it does not exist."""
    try:
        stored = default_storage.open(name, "rb")
    except FileNotFoundError:
        return None
    with stored, writing.member(archive.file_of(name)) as stream:
        while part := stored.read(archive.CHUNK):
            stream.write(part)
    return archive.FileEntry(**stream.entry, name=name)
