"""A project's rules: its grades, its overlaps, what judges see, and whether it is put away."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from django.db import transaction
from django.utils import timezone

from annotate.actions.seats import refuse_if_archived
from annotate.errors import Refused
from annotate.models import Adjudication, Grade, Judgment, Membership, Project


class GradeRule(NamedTuple):
    """A grade as a lead defines it."""

    value: int
    name: str
    sentence: str = ""


FIELDS = (
    "name",
    "description",
    "relevant_from",
    "judge_scope",
    "consensus",
    "show_prior",
    "overlap_rewrite",
    "overlap_judge",
    "overlap_review",
)


def change_rules(
    *, changes: dict[str, object], grades: Sequence[GradeRule], by: Membership
) -> Project:
    """Set the project's fields named in `changes` and its grades, all or nothing.

    A grade that was given stays; at least two grades are needed to tell documents apart, and
    what counts as relevant begins at one of them above the lowest.
    """
    refuse_if_archived(by.project)
    if not by.leads:
        raise Refused("Only leads of this project change its rules.")
    if unknown := set(changes) - set(FIELDS):
        raise Refused(f"There is no rule called {', '.join(sorted(unknown))}.")
    values = [grade.value for grade in grades]
    if len(set(values)) != len(values):
        raise Refused("Two grades have the same value. Give each its own.")
    if len(values) < 2:
        raise Refused("A project needs at least two grades.")
    threshold = changes.get("relevant_from", by.project.relevant_from)
    if threshold not in values or threshold == min(values):
        reach = ", ".join(map(str, sorted(values)[1:]))
        raise Refused(f"“Relevant from” must be a grade above the lowest: {reach}.")
    with transaction.atomic():
        project = Project.objects.select_for_update().get(pk=by.project_id)
        given = Judgment.objects.filter(annotator__project=project).values_list("relevance")
        settled = Adjudication.objects.filter(by__project=project).values_list("relevance")
        used = {value for (value,) in given.union(settled)}
        if lost := sorted(used - set(values)):
            given_away = ", ".join(map(str, lost))
            raise Refused(f"Judges have given the grade {given_away}, so it cannot be taken away.")
        for field, value in changes.items():
            setattr(project, field, value)
        project.full_clean()
        project.save()
        project.grades.exclude(value__in=values).delete()
        for grade in grades:
            Grade.objects.update_or_create(
                project=project,
                value=grade.value,
                defaults={"name": grade.name, "sentence": grade.sentence},
            )
    return project


def archive(*, by: Membership, now: datetime | None = None) -> Project:
    """Put the project away: nothing in it changes any more, nothing is deleted."""
    return _archived(by, now or timezone.now())


def unarchive(*, by: Membership) -> Project:
    """Bring the project back."""
    return _archived(by, None)


def _archived(by: Membership, at: datetime | None) -> Project:
    if not by.leads:
        raise Refused("Only leads of this project can do that.")
    with transaction.atomic():
        project = Project.objects.select_for_update().get(pk=by.project_id)
        project.archived_at, project.archived_by = at, (by.user if at else None)
        project.save(update_fields=["archived_at", "archived_by"])
    return project
