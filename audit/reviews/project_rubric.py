"""Save a rubric in a project, and choose which one is current."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate.projects import access as projects_access
from annotate.projects.audit_log import record
from annotate.projects.models import Membership, Project
from audit.reviews import rubrics
from audit.reviews.criteria import SHIPPED
from audit.reviews.models import Rubric as Kept
from base.errors import Refused
from formats.records import RubricRecord


def save_rubric(
    *,
    project: Project,
    content: RubricRecord,
    by: Membership | None,
    now: datetime | None = None,
) -> Kept:
    """Insert a rubric into a project, make it current, and return its row.

    `by` is None for commands. A rubric that is already saved only becomes current. Refused: not a
    lead, an archived project, a name that the project or Rejudge uses for a different rubric.
    """
    now = now or timezone.now()
    with transaction.atomic():
        _rubrics_of(project, by)
        known = Kept.objects.filter(project=project, name=content.name).first()
        shipped = SHIPPED.get(content.name)
        said = shipped if shipped is not None else known.content if known is not None else None
        if said is not None and tuple(said) != tuple(content):
            free = rubrics.next_name(project.pk, content.name)
            raise Refused(
                _(
                    "A different rubric “%(name)s” already exists. Reviews refer to it, so give "
                    "yours another name, for example “%(free)s”."
                )
                % {"name": content.name, "free": free}
            )
        kept = known or Kept.of(content, project=project, created_at=now, created_by=by)
        return _put_in_force(kept, by, now)


def choose_rubric(
    *, project: Project, name: str, by: Membership | None, now: datetime | None = None
) -> Kept:
    """Make a rubric of the project, or one shipped with Rejudge, current.

    `by` is None for commands. Refused: not a lead, an archived project, an unknown name.
    """
    now = now or timezone.now()
    with transaction.atomic():
        _rubrics_of(project, by)
        try:
            content = rubrics.named(project.pk, name)
        except rubrics.UnknownRubric:
            raise Refused(
                _("There is no rubric “%(name)s” in this project. There are: %(known)s.")
                % {"name": name, "known": ", ".join(rubrics.names(project.pk))}
            ) from None
        known = Kept.objects.filter(project=project, name=name).first()
        kept = known or Kept.of(content, project=project, created_at=now, created_by=by)
        return _put_in_force(kept, by, now)


def take_rubric(project: Project, name: str, by: Membership | None) -> None:
    """Make a shipped rubric current unless it is already."""
    if rubrics.in_force(project.pk).name != name:
        choose_rubric(project=project, name=name, by=by)


def _rubrics_of(project: Project, by: Membership | None) -> None:
    """Lock the project, so that leads act one after the other. Refused: not a lead, archived."""
    project = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    if by is not None and (not by.leads or by.project_id != project.pk):
        raise Refused(_("Only leads of this project choose its rubric."))
    projects_access.refuse_if_archived(project)


def _put_in_force(kept: Kept, by: Membership | None, now: datetime) -> Kept:
    in_force = Kept.objects.in_force(kept.project_id)
    if in_force is None or in_force.pk != kept.pk:
        kept.chosen_at, kept.chosen_by = now, by
        kept.save()
        before = in_force.name if in_force is not None else None
        record(
            project=kept.project,
            what="rubric.chosen",
            about=kept,
            changes={"rubric": (before, kept.name)},
            by=by,
            now=now,
        )
    return kept
