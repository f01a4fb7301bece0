"""Restoring a backup completely or not at all."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from django.core.files.storage import default_storage
from django.core.management import call_command
from django.db import Error as DatabaseError
from django.db import transaction

from annotate.collection.intake.files import Progress
from annotate.projects.actions import SLUG
from annotate.projects.audit_log import record
from annotate.projects.models import Project
from base.errors import Refused
from base.users import User
from keeping import archive
from keeping.restored_rows import RestoredRows


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
    except DatabaseError as error:
        _delete_files(new_files)
        words = " ".join(str(error).split())
        raise Refused(f"The database refused a row, so nothing was restored: {words}") from error
    except BaseException:
        _delete_files(new_files)
        raise
    record(
        project=None if name is None else Project.objects.get(slug=name),
        what="project.restored",
        about=reading.path.name,
        by=None,
    )
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
