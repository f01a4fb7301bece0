"""Save a rubric in a project, and choose which one is current."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from annotate.projects import access as projects_access
from annotate.projects.audit_log import record
from annotate.projects.models import Membership, Project
from audit.reviews import rubrics
from audit.reviews.criteria import SHIPPED
from audit.reviews.models import Rubric as RubricRow
from base.errors import Refused
from formats.records import RubricRecord


def save_rubric(
    *,
    project: Project,
    content: RubricRecord,
    by: Membership | None,
    now: datetime | None = None,
) -> RubricRow:
    """Insert a rubric into a project, make it current, and return its row.

    `by` is None for commands. A rubric that is already saved only becomes current. Refused: not a
    lead, an archived project, a name that the project or Rejudge uses for a different rubric.
    """
    now = now or timezone.now()
    with transaction.atomic():
        _lock_project(project, by)
        stored = RubricRow.objects.filter(project=project, name=content.name).first()
        shipped = SHIPPED.get(content.name)
        existing = (
            shipped if shipped is not None else stored.content if stored is not None else None
        )
        if existing is not None and tuple(existing) != tuple(content):
            free = rubrics.next_name(project.pk, content.name)
            raise Refused(
                f"A different rubric “{content.name}” already exists. Reviews refer to it, "
                f"so give yours another name, for example “{free}”."
            )
        row = stored or RubricRow.from_content(
            content, project=project, created_at=now, created_by=by
        )
        return _make_current(row, by, now)


def choose_rubric(
    *, project: Project, name: str, by: Membership | None, now: datetime | None = None
) -> RubricRow:
    """Make a rubric of the project, or one shipped with Rejudge, current.

    `by` is None for commands. Refused: not a lead, an archived project, an unknown name.
    """
    now = now or timezone.now()
    with transaction.atomic():
        _lock_project(project, by)
        try:
            content = rubrics.get_rubric(project.pk, name)
        except rubrics.UnknownRubric:
            raise Refused(
                f"There is no rubric “{name}” in this project. There are: "
                f"{', '.join(rubrics.rubric_names(project.pk))}."
            ) from None
        stored = RubricRow.objects.filter(project=project, name=name).first()
        row = stored or RubricRow.from_content(
            content, project=project, created_at=now, created_by=by
        )
        return _make_current(row, by, now)


def use_shipped_rubric(project: Project, name: str, by: Membership | None) -> None:
    """Make a shipped rubric current unless it is already."""
    if rubrics.current_rubric(project.pk).name != name:
        choose_rubric(project=project, name=name, by=by)


def _lock_project(project: Project, by: Membership | None) -> None:
    """Lock the project, so that leads act one after the other. Refused: not a lead, archived."""
    project = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    if by is not None and (not by.leads or by.project_id != project.pk):
        raise Refused("Only leads of this project choose its rubric.")
    projects_access.refuse_if_archived(project)


def _make_current(row: RubricRow, by: Membership | None, now: datetime) -> RubricRow:
    current = RubricRow.objects.current_of(row.project_id)
    if current is None or current.pk != row.pk:
        row.chosen_at, row.chosen_by = now, by
        row.save()
        before = current.name if current is not None else None
        record(
            project=row.project,
            what="rubric.chosen",
            about=row,
            changes={"rubric": (before, row.name)},
            by=by,
            now=now,
        )
    return row
