"""Restoring a backup completely or not at all."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from django.apps import apps as present
from django.apps.registry import Apps
from django.core.files.storage import default_storage
from django.db import DatabaseError, transaction

from annotate.collection.intake.progress import Progress
from annotate.projects.actions import SLUG
from annotate.projects.audit_log import record
from annotate.projects.models import Project
from base.errors import Refused
from keeping import archive, migration_state, tables
from keeping.restored_rows import RestoredRows


class Restored(NamedTuple):
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

    Refused: a file that is damaged, is not a backup, or is from a later version.
    """
    reading = archive.Reading(path)
    try:
        _check(reading, progress)
        return reading.manifest
    finally:
        reading.close()


def restore(*, path: Path, slug: str | None = None, progress: Progress) -> Restored:
    """Restore a backup completely or not at all.

    A whole installation can be restored into an empty one, and a project into any that does not
    have it; `slug` gives the project another short name. A backup by an earlier version can only be
    restored into an empty installation, and is brought up to date there. Refused: everything else,
    and a damaged backup.
    """
    reading = archive.Reading(path)
    try:
        _check(reading, progress)
        return _restore(reading, slug, progress)
    finally:
        reading.close()


def _check(reading: archive.Reading, progress: Progress) -> None:
    migration_state.refuse_unknown(reading.manifest["migrations"], reading.manifest["version"])
    progress.start(reading.size, "Checking")
    reading.check(progress.advance)


def _restore(reading: archive.Reading, slug: str | None, progress: Progress) -> Restored:
    manifest = reading.manifest
    whole = manifest["project"] is None
    if whole and slug is not None:
        raise Refused("This is a backup of a whole installation: its projects keep their names.")
    if slug is not None and not SLUG.fullmatch(slug):
        raise Refused(f"“{slug}” cannot be a project's short name.")
    name = None if whole else slug or manifest["project"]
    same = manifest["migrations"] == migration_state.latest()
    if not migration_state.has_no_tables():
        migration_state.refuse_unless_up_to_date()
        empty = _is_empty()
        if whole and not empty:
            raise Refused(
                "This installation is not empty. A whole installation can only be restored into an "
                "empty one: set REJUDGE_DATA and DATABASE_URL to a new folder and a new database."
            )
        if not same and not empty:
            raise Refused(
                f"This backup was made by Rejudge {manifest['version']} with other tables. Restore "
                "it into an empty installation, which brings it up to date, and back it up there."
            )
    elif same:
        migration_state.to_latest()
    apps = present if same else migration_state.as_it_was(manifest["migrations"])
    into = RestoredRows(reading, apps, name, progress)
    stored: list[str] = []
    try:
        into.refuse_strange()
        into.refuse_known()
        into.make_room()
        # Before the rows, so that the files that rows name exist.
        into.files(stored)
        with transaction.atomic():
            into.rows()
    except DatabaseError as error:
        _take_back(stored)
        raise Refused(_sentence(error, whole)) from error
    except BaseException:
        _take_back(stored)
        raise
    finally:
        if not same:
            migration_state.to_latest()
    record(
        project=None if name is None else Project.objects.get(slug=name),
        what="project.restored",
        about=reading.path.name,
        by=None,
    )
    return Restored(
        project=name,
        rows=sum(table["rows"] for table in manifest["tables"]),
        files=len(manifest["files"]),
        missing=manifest["missing"],
        found=sorted(into.found),
        made=sorted(into.made),
    )


def _project(apps: Apps) -> Any:
    return apps.get_model(tables.PROJECT)


def _is_empty() -> bool:
    """Return whether this installation has no accounts and no projects."""
    people: Any = present.get_model(tables.USER)
    return not any(model._base_manager.exists() for model in (people, _project(present)))


def _sentence(error: DatabaseError, whole: bool) -> str:
    said = str(error).strip().splitlines()
    words = said[0] if said else type(error).__name__
    if whole:
        return f"The database refused a row, so nothing was restored: {words}"
    return (
        f"The database refused a row, so nothing was restored: {words}. If it says that something "
        "already exists, this project is here already, under another short name."
    )


def _take_back(stored: Iterable[str]) -> None:
    for name in stored:
        default_storage.delete(name)
