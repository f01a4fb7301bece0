"""The files that rows name; a backup keeps them with the rows."""

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

# Top folders of the storage; in each, a project's files are in a folder named by its key.
SHELVES = ("runs", "uploads", "exports", "releases")
# Columns that name a folder of the storage: (table, column).
FOLDERS = {("exporters.export", "folder")}


def named_by_rows(project: int | None = None) -> list[str]:
    """Return the sorted storage names of all files that rows of one project (a key) or of all name.

    Files that do not exist are included.
    """
    found = {*_of_fields(project), *_of_exports(project), *_of_releases(project)}
    return sorted(found)


def moved(name: str, before: int, now: int) -> str:
    """Return a file's name in an installation where its project has the key `now`."""
    shelf, _, rest = name.partition("/")
    owner, _, inside = rest.partition("/")
    return f"{shelf}/{now}/{inside}" if shelf in SHELVES and owner == str(before) else name


def file_fields(model: type[models.Model]) -> list[str]:
    """Return the columns of a table that name files."""
    fields = [column.field for column in tables.columns(model)]
    return [str(field.column) for field in fields if isinstance(field, models.FileField)]


def clear(project: int) -> int:
    """Delete all files in a project's folders; return how many there were."""
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
    """Return the sorted names of all files in a project's folders, named by rows or not."""
    return sorted(name for shelf in SHELVES for name in _walk(f"{shelf}/{project.pk}"))


def _walk(folder: str) -> Iterator[str]:
    try:
        folders, files = default_storage.listdir(folder)
    except FileNotFoundError:
        return
    yield from (f"{folder}/{name}" for name in files)
    for name in folders:
        yield from _walk(f"{folder}/{name}")
