"""The files that rows name; a backup keeps them with the rows."""

from __future__ import annotations

from collections.abc import Iterator

from django.core.files.storage import default_storage
from django.db import models

from annotate.projects.models import Project
from base.control_characters import code_not_in_names
from exporters.exports.access import ARCHIVE
from exporters.exports.files import delete_folder
from exporters.exports.manifest import manifest
from exporters.exports.models import Export
from exporters.releases import contents, file_store
from exporters.releases.models import Release
from keeping import tables

# Top folders of the storage; in each, a project's files are in a folder named by its key.
PROJECT_FOLDERS = ("runs", "uploads", "exports", "releases")
# Columns that name a folder of the storage: (table, column).
FOLDER_COLUMNS = {("exporters.export", "folder")}
# Columns with a manifest that lists files by name and sha256.
LISTS_OF_FILES = {("exporters.export", "manifest"), ("exporters.release", "manifest")}


def file_names_in_rows(project: int | None = None) -> list[str]:
    """Return the sorted storage names of all files that rows of one project (a key) or of all name.

    Files that do not exist are included.
    """
    names = {*_names_in_fields(project), *_names_in_exports(project), *_names_in_releases(project)}
    return sorted(names)


def move_name(name: str, before: int, now: int) -> str:
    """Return a file's name in an installation where its project has the key `now`."""
    top_folder, _, rest = name.partition("/")
    owner, _, inside = rest.partition("/")
    return (
        f"{top_folder}/{now}/{inside}"
        if top_folder in PROJECT_FOLDERS and owner == str(before)
        else name
    )


def is_relative(name: str) -> bool:
    """Return whether a file's name stays inside the folder that it is relative to."""
    return not ({"", ".", ".."} & set(name.split("/")) or "\\" in name or code_not_in_names(name))


def is_in_project(name: str, project: int | None) -> bool:
    """Return whether a file of the storage is in a folder of this project or, if None, of any."""
    top_folder, _, rest = name.partition("/")
    owner, _, inside = rest.partition("/")
    return (
        is_relative(name)
        and top_folder in PROJECT_FOLDERS
        and (owner.isdigit() if project is None else owner == str(project))
        and inside != ""
    )


def file_fields(model: type[models.Model]) -> list[str]:
    """Return the columns of a table that name files."""
    fields = [column.field for column in tables.columns(model)]
    return [str(field.column) for field in fields if isinstance(field, models.FileField)]


def delete_project_files(project: int) -> int:
    """Delete all files in a project's folders; return how many there were."""
    return sum(delete_folder(f"{top_folder}/{project}") for top_folder in PROJECT_FOLDERS)


def _names_in_fields(project: int | None) -> Iterator[str]:
    paths = tables.project_paths()
    for model in tables.kept_tables():
        for column in file_fields(model):
            rows = model._base_manager.exclude(**{column: ""})
            if project is not None:
                if (path := paths.get(tables.label(model))) is None:
                    continue
                rows = rows.filter(**{path: project})
            yield from rows.order_by().values_list(column, flat=True).distinct()


def _names_in_exports(project: int | None) -> Iterator[str]:
    rows = Export.objects.exclude(folder="")
    if project is not None:
        rows = rows.filter(project=project)
    for export in rows.iterator(chunk_size=100):
        named = [entry["name"] for entry in (export.manifest or {}).get("files", ())]
        for name in (*named, manifest.NAME, ARCHIVE):
            yield f"{export.folder}/{name}"


def _names_in_releases(project: int | None) -> Iterator[str]:
    rows = Release.objects.filter(manifest__isnull=False)
    if project is not None:
        rows = rows.filter(project=project)
    for release in rows.iterator(chunk_size=100):
        for entry in contents.files(release).values():
            yield file_store.path_of(release.project_id, entry["sha256"])


def files_in_storage(project: Project) -> list[str]:
    """Return the sorted names of all files in a project's folders, named by rows or not."""
    return sorted(
        name
        for top_folder in PROJECT_FOLDERS
        for name in _files_below(f"{top_folder}/{project.pk}")
    )


def _files_below(folder: str) -> Iterator[str]:
    try:
        folders, files = default_storage.listdir(folder)
    except FileNotFoundError:
        return
    yield from (f"{folder}/{name}" for name in files)
    for name in folders:
        yield from _files_below(f"{folder}/{name}")
