"""Deleting a project for good, with its rows and files."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.db import connection
from django.db.models import Q

from annotate.judgments.models import Judgment, Revision
from annotate.projects.audit_log import record
from annotate.projects.models import Project
from base.constraints import deletions_allowed
from base.errors import Refused
from jobs.models import Job
from keeping import tables


class PurgeCounts(NamedTuple):
    """The number of rows and files that were deleted."""

    rows: int
    files: int


class ProjectContents(NamedTuple):
    """What a project contains, to show before it is deleted."""

    name: str
    judgments: int
    people: int
    files: int


def read_contents(slug: str) -> ProjectContents:
    """Return what a project contains. Refused: a project that does not exist or is not archived."""
    project = _require_archived(Project.objects.filter(slug=slug).first(), slug)
    judgments = Judgment.objects.filter(annotator__project=project).count()
    return ProjectContents(
        name=project.name,
        judgments=judgments,
        people=project.memberships.people().count(),
        files=len(tables.files_in_storage(project)),
    )


def purge(*, slug: str, typed: str) -> PurgeCounts:
    """Delete an archived project and everything in it, irreversibly except from a backup.

    Accounts stay. Refused: if `typed` is not the project's short name; a project that does not
    exist, is not archived, or has a running job.
    """
    if typed != slug:
        raise Refused(f"That is not “{slug}”. Nothing was deleted.")
    with deletions_allowed():
        locked = Project.objects.select_for_update(no_key=True).filter(slug=slug)
        project = _require_archived(locked.first(), slug)
        project_tables = tables.tables_of_a_project()
        if Job.objects.filter(project=project, state=Job.State.RUNNING).exists():
            raise Refused("A job of this project is running. Wait for it, or cancel it.")
        # Backups leave this table out, so it is not in the list; its rows point to deleted ones.
        Revision.objects.filter(
            Q(narrative__pair__project=project) | Q(query__project=project)
        ).delete()
        rows = 0
        # Rows that point to others are deleted before those.
        for model, path in reversed(project_tables):
            rows_to_delete: Any = model._base_manager.filter(**{path: project.pk})
            rows += rows_to_delete._raw_delete(connection.alias)
        connection.check_constraints()
        # The project's own audit log is gone as well; this event stays in the installation's.
        record(
            project=None, what="project.purged", about=slug, named=slug, by=None, words=project.name
        )
    # Files last: if this is interrupted, the remaining files are no longer named by any row.
    return PurgeCounts(rows=rows, files=tables.delete_project_files(project.pk))


def _require_archived(project: Project | None, slug: str) -> Project:
    if project is None:
        raise Refused(f"There is no project “{slug}”.")
    if project.archived_at is None:
        raise Refused(
            f"The project “{slug}” is not archived. A lead can archive it in its settings; then it "
            "can be purged."
        )
    return project
