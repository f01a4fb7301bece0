"""Taking a project away for good: its rows, and its files."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.apps import apps
from django.db import connection
from django.db.models import Q

from annotate.judgments.models import Judgment, Revision
from annotate.projects.audit_log import record
from annotate.projects.models import Project
from base.append_only import deletions_allowed
from base.errors import Refused
from jobs.models import Job
from keeping import files, tables


class Purged(NamedTuple):
    """What was taken away: how many rows, and how many files."""

    rows: int
    files: int


class Held(NamedTuple):
    """What a project holds, for whoever is about to take it away."""

    name: str
    judgments: int
    people: int
    files: int


def held(slug: str) -> Held:
    """Say what a project holds. Refused: one that there is not, or that is not archived."""
    project = _archived(Project.objects.filter(slug=slug).first(), slug)
    judgments = Judgment.objects.filter(annotator__project=project).count()
    return Held(
        name=project.name,
        judgments=judgments,
        people=project.memberships.people().count(),
        files=len(files.of_the_storage(project)),
    )


def purge(*, slug: str, typed: str) -> Purged:
    """Take an archived project away, with everything that anybody said in it. There is no way back
    but a backup. Accounts stay.

    Refused: where what was `typed` is not the project's short name; a project that is not there, is
    not archived, or has a job under way.
    """
    if typed != slug:
        raise Refused(f"That is not “{slug}”. Nothing was deleted.")
    with deletions_allowed():
        locked = Project.objects.select_for_update(no_key=True).filter(slug=slug)
        project = _archived(locked.first(), slug)
        gone = tables.tables_of_a_project(apps)
        for model, path in gone:
            if issubclass(model, Job) and (
                model._base_manager.filter(**{path: project.pk}, state=Job.State.RUNNING).exists()
            ):
                raise Refused("A job of this project is under way. Wait for it, or call it off.")
        # No backup keeps them, so they are none of these tables; they point to rows that go.
        Revision.objects.filter(
            Q(narrative__pair__project=project)
            | Q(condition__narrative__pair__project=project)
            | Q(query__project=project)
        ).delete()
        rows = 0
        # What points to others goes before them.
        for model, path in reversed(gone):
            doomed: Any = model._base_manager.filter(**{path: project.pk})
            rows += doomed._raw_delete(connection.alias)
        connection.check_constraints()
        # Of what was done in it the audit log is gone as well; that it was purged stays.
        record(
            project=None, what="project.purged", about=slug, named=slug, by=None, words=project.name
        )
    # The rows are gone: what is left of the files after a power cut is named by nobody.
    return Purged(rows=rows, files=files.clear(project.pk))


def _archived(project: Project | None, slug: str) -> Project:
    if project is None:
        raise Refused(f"There is no project “{slug}”.")
    if project.archived_at is None:
        raise Refused(
            f"The project “{slug}” is in use. A lead archives it in its settings; then it can be "
            "purged."
        )
    return project
