"""A project's rules: its grades, its overlaps, what judges see, and whether it is archived."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from django.db import transaction
from django.utils import timezone

from annotate.judgments.grades import grades_in_use
from annotate.pairs.longest_conditions import longest_conditions
from annotate.projects.access import refuse_if_archived
from annotate.projects.audit_log import record
from annotate.projects.models import Grade, Membership, Project
from base.control_characters import tidy
from base.errors import Refused, refuse_invalid_characters, refuse_invalid_names


class GradeRule(NamedTuple):
    """A grade as a lead defines it."""

    value: int
    name: str
    sentence: str = ""


_COUNT = Project.ConditionRule.COUNT_MET

FIELDS = (
    "name",
    "description",
    "relevant_from",
    "judge_scope",
    "consensus",
    "show_prior",
    "show_rank",
    "show_ids",
    "hide_names",
    "judge_order",
    "order_seed",
    "repeat_percent",
    "evidence_rule",
    "condition_rule",
    "overlap_rewrite",
    "overlap_judge",
    "overlap_review",
)


def change_rules(
    *,
    changes: dict[str, object],
    grades: Sequence[GradeRule],
    by: Membership,
    now: datetime | None = None,
) -> Project:
    """Set the project's fields named in `changes` and its grades, all or nothing.

    A grade that has been given cannot be removed. At least two grades are required, and
    `relevant_from` must be one of them above the lowest. If relevance is the number of conditions
    met, every possible number must be a grade.
    """
    refuse_if_archived(by.project)
    if not by.leads:
        raise Refused("Only leads of this project can change its rules.")
    if unknown := set(changes) - set(FIELDS):
        raise Refused(f"There is no rule called {', '.join(sorted(unknown))}.")
    refuse_invalid_names(str(changes.get("name", "")), *(grade.name for grade in grades))
    for text in (str(changes.get("description", "")), *(grade.sentence for grade in grades)):
        refuse_invalid_characters(tidy(text))
    values = [grade.value for grade in grades]
    if len(set(values)) != len(values):
        raise Refused("Two grades have the same value. Give each a different value.")
    if len(values) < 2:
        raise Refused("A project needs at least two grades.")
    threshold = changes.get("relevant_from", by.project.relevant_from)
    if threshold not in values or threshold == min(values):
        reach = ", ".join(map(str, sorted(values)[1:]))
        raise Refused(f"“Relevant from” must be a grade above the lowest: {reach}.")
    if changes.get("condition_rule", by.project.condition_rule) == _COUNT:
        _check_counted(by.project, values)
    with transaction.atomic():
        project = Project.objects.select_for_update(no_key=True).get(pk=by.project_id)
        if lost := sorted(grades_in_use(project) - set(values)):
            given_away = ", ".join(map(str, lost))
            raise Refused(f"Judges have given the grade {given_away}, so it cannot be removed.")
        before = {field: getattr(project, field) for field in changes} | _grades_for_log(project)
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
        after = {field: getattr(project, field) for field in changes} | _grades_for_log(project)
        changed = {field: (before[field], after[field]) for field in before}
        if before != after:
            record(
                project=project,
                what="project.rules",
                about=project,
                changes=changed,
                by=by,
                now=now,
            )
    return project


def _grades_for_log(project: Project) -> dict[str, object]:
    """Return the grades in the form that the audit log stores."""
    rows = project.grades.order_by("value").values_list("value", "name", "sentence")
    return {"grades": [[value, name, sentence] for value, name, sentence in rows]}


def _check_counted(project: Project, values: Sequence[int]) -> None:
    """Refuse grades if a possible number of met conditions is not among them."""
    if sorted(values) != list(range(len(values))):
        raise Refused(
            "If relevance is the number of conditions that are met, the grades must be 0, "
            "1, 2 and so on, without a gap."
        )
    longest = longest_conditions(project)
    if longest is not None and longest[0] > max(values):
        conditions, pair_id = longest
        raise Refused(
            f"The narrative of {pair_id} has {conditions} conditions, so the grades must be "
            f"0 to {conditions}."
        )


def archive(*, by: Membership, now: datetime | None = None) -> Project:
    """Archive the project: nothing in it can be changed, nothing is deleted.

    Archiving an archived project changes nothing.
    """
    return _set_archived(by, now or timezone.now())


def unarchive(*, by: Membership) -> Project:
    """Unarchive the project."""
    return _set_archived(by, None)


def _set_archived(by: Membership, at: datetime | None) -> Project:
    if not by.leads:
        raise Refused("Only leads of this project can do that.")
    with transaction.atomic():
        project = Project.objects.select_for_update(no_key=True).get(pk=by.project_id)
        if (project.archived_at is None) == (at is None):
            # Who archived it, and when, is never overwritten.
            return project
        project.archived_at, project.archived_by = at, (by.user if at else None)
        project.save(update_fields=["archived_at", "archived_by"])
        what = "project.archived" if at else "project.unarchived"
        record(project=project, what=what, about=project, by=by, now=at)
    return project
