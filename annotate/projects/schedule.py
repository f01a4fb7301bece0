"""A project's due date, and pausing it."""

from __future__ import annotations

from datetime import UTC, date, datetime
from enum import StrEnum
from typing import NamedTuple

from django.db import transaction
from django.utils import timezone

from annotate.projects.access import lock_project
from annotate.projects.audit_log import record
from annotate.projects.models import Membership, Project
from base import reader_preferences
from base.errors import Refused


class DueState(StrEnum):
    """Whether a due date is ahead, today or overdue."""

    AHEAD = "ahead"
    TODAY = "today"
    OVERDUE = "overdue"


class Due(NamedTuple):
    """A due date, and the number of days until it or since it."""

    on: date
    days: int
    state: DueState


def due(project: Project, *, now: datetime | None = None) -> Due | None:
    """Return the due date, counted in the time zone that the reader chose, else in UTC."""
    if project.due_on is None:
        return None
    days = (project.due_on - _today(now)).days
    state = DueState.AHEAD if days > 0 else DueState.OVERDUE if days < 0 else DueState.TODAY
    return Due(project.due_on, abs(days), state)


def refuse_if_paused(project: Project) -> None:
    """Refuse to assign tasks while the project is paused."""
    if project.paused_at is not None:
        raise Refused(
            "This project is paused by a lead, so no new tasks are given out. Your work so "
            "far is kept."
        )


def pause(*, by: Membership, now: datetime | None = None) -> Project:
    """Pause the project: no new tasks are assigned, but people can finish the ones they have.

    Pausing twice keeps the first time.
    """
    return _set_paused(by, now or timezone.now())


def resume(*, by: Membership) -> Project:
    """End the pause: tasks are assigned again. Resuming twice changes nothing."""
    return _set_paused(by, None)


def _set_paused(by: Membership, at: datetime | None) -> Project:
    with transaction.atomic():
        project = lock_project(by.project_id, by)
        if (project.paused_at is None) == (at is None):
            return project
        project.paused_at, project.paused_by = at, (by.user if at else None)
        project.save(update_fields=["paused_at", "paused_by"])
        what = "project.paused" if at else "project.resumed"
        record(project=project, what=what, about=project, by=by, now=at)
    return project


def set_due_date(*, due_on: date | None, by: Membership, now: datetime | None = None) -> Project:
    """Set the day by which the project should be done, or None.

    Refused: a day that has passed, unless it is the current due date.
    """
    with transaction.atomic():
        project = lock_project(by.project_id, by)
        before, project.due_on = project.due_on, due_on
        if before == due_on:
            return project
        if due_on is not None and due_on < _today(now):
            raise Refused(
                f"{due_on.isoformat()} has passed. Give today or a later day, or leave the "
                "due date empty."
            )
        project.save(update_fields=["due_on"])
        changes = {"due_on": (_iso(before), _iso(due_on))}
        record(project=project, what="project.due", about=project, changes=changes, by=by, now=now)
    return project


def _today(now: datetime | None) -> date:
    """Return today's date in the time zone that the reader chose, else in UTC."""
    zone = reader_preferences.zone_of_reader() or UTC
    return (now or timezone.now()).astimezone(zone).date()


def _iso(day: date | None) -> str | None:
    return None if day is None else day.isoformat()
