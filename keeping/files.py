"""The files that rows name: a backup keeps them with the rows."""

from __future__ import annotations

from collections.abc import Iterator

from django.apps import apps
from django.core.files.storage import default_storage
from django.db import models

from annotate.projects.models import Project
from exporters.exports import manifest
from exporters.exports.access import ARCHIVE
from exporters.exports.models import Export
from exporters.releases import contents, file_store
from exporters.releases.models import Release
from keeping import tables

# Shelves of the storage; in each, what is of a project lies in a folder called by its key.
SHELVES = ("runs", "uploads", "exports", "releases")
# Columns that name a folder of the storage: (table, column).
FOLDERS = {("exporters.export", "folder")}


def named_by_rows(project: int | None = None) -> list[str]:
    """The names, within the storage, of all files that rows name, in order; of one project (a key)
    or of all. A file is named also where it is missing.
    """
    found = {*_of_fields(project), *_of_exports(project), *_of_releases(project)}
    return sorted(found)


def moved(name: str, before: int, now: int) -> str:
    """What a file is called in an installation where its project has another key."""
    shelf, _, rest = name.partition("/")
    owner, _, inside = rest.partition("/")
    return f"{shelf}/{now}/{inside}" if shelf in SHELVES and owner == str(before) else name


def file_fields(model: type[models.Model]) -> list[str]:
    """The columns of a table that name files."""
    fields = [column.field for column in tables.columns(model)]
    return [str(field.column) for field in fields if isinstance(field, models.FileField)]


def clear(project: int) -> int:
    """Delete everything that lies on the shelves of a project; return how many files it was."""
    return sum(_clear(f"{shelf}/{project}") for shelf in SHELVES)


def _clear(folder: str) -> int:
    try:
        folders, files = default_storage.listdir(folder)
    except FileNotFoundError:
        return 0
    for name in files:
        default_storage.delete(f"{folder}/{name}")
    gone = len(files) + sum(_clear(f"{folder}/{name}") for name in folders)
    default_storage.delete(folder)
    return gone


def _of_fields(project: int | None) -> Iterator[str]:
    ways = tables.paths(apps)
    for model in tables.kept_tables(apps):
        for column in file_fields(model):
            rows = model._base_manager.exclude(**{column: ""})
            if project is not None:
                if (path := ways.get(tables.label(model))) is None:
                    continue
                rows = rows.filter(**{path: project})
            yield from rows.order_by().values_list(column, flat=True).distinct()


def _of_exports(project: int | None) -> Iterator[str]:
    rows = Export.objects.exclude(folder="")
    if project is not None:
        rows = rows.filter(project=project)
    for export in rows.iterator(chunk_size=100):
        named = [entry["name"] for entry in (export.manifest or {}).get("files", ())]
        for name in (*named, manifest.NAME, ARCHIVE):
            yield f"{export.folder}/{name}"


def _of_releases(project: int | None) -> Iterator[str]:
    rows = Release.objects.filter(manifest__isnull=False)
    if project is not None:
        rows = rows.filter(project=project)
    for release in rows.iterator(chunk_size=100):
        for entry in contents.files(release).values():
            yield file_store.place(release.project_id, entry["sha256"])


def of_the_storage(project: Project) -> list[str]:
    """What lies on the shelves of a project, named by rows or not, in order."""
    return sorted(name for shelf in SHELVES for name in _walk(f"{shelf}/{project.pk}"))


def _walk(folder: str) -> Iterator[str]:
    try:
        folders, files = default_storage.listdir(folder)
    except FileNotFoundError:
        return
    yield from (f"{folder}/{name}" for name in files)
    for name in folders:
        yield from _walk(f"{folder}/{name}")
