"""A project's kind: the settings that come with it, and changing it later."""

from __future__ import annotations

from typing import NamedTuple

from django.db import transaction

from annotate.judgments.grades import grades_in_use
from annotate.pairs.longest_conditions import longest_conditions
from annotate.projects import rules
from annotate.projects.access import refuse_if_archived
from annotate.projects.audit_log import record
from annotate.projects.kinds import KINDS, ProjectKind, kind_of
from annotate.projects.models import Category, Membership, Project
from annotate.projects.taxonomies import TAXONOMIES
from base.errors import Refused
from base.providers import Provider

# Answered by the app of reviews; the person is None for a command.
adopt_rubric: Provider[[Project, str, Membership | None], None] = Provider(
    "How does a project take a rubric that comes with Rejudge?"
)


class Difference(NamedTuple):
    """A rule of the project that differs from what a kind sets."""

    field: str
    here: object
    of_kind: object


def kind_by_key(key: str) -> ProjectKind:
    """Return the kind with this key. Refused: an unknown key."""
    if key not in KINDS:
        raise Refused(f"“{key}” is not a kind of project. The kinds are: {', '.join(KINDS)}.")
    return KINDS[key]


def add_taxonomy_and_rubric(*, project: Project, kind: ProjectKind, by: Membership | None) -> None:
    """Add the kind's types of instructions, and make its rubric the current one.

    Types that the project already has are not changed.
    """
    if kind.taxonomy:
        keys = set(project.categories.values_list("key", flat=True))
        Category.objects.bulk_create(
            Category(
                project=project,
                key=category.key,
                name=category.name,
                sentence=category.sentence,
                place=len(keys) + place,
            )
            for place, category in enumerate(TAXONOMIES[kind.taxonomy])
            if category.key not in keys
        )
    if kind.rubric:
        adopt_rubric(project, kind.rubric, by)


def differences(project: Project, kind: ProjectKind) -> list[Difference]:
    """Return the settings of a project that differ from those of a kind, in their order."""
    return [
        Difference(field, getattr(project, field), kind.settings[field])
        for field in rules.FIELDS
        if field in kind.settings and getattr(project, field) != kind.settings[field]
    ]


def refusal_reason(project: Project, kind: ProjectKind) -> str:
    """Return why the project cannot take this kind without losing data, or "" if it can."""
    values = {grade.value for grade in kind.grades}
    if not kind.settings:
        return ""
    if lost := sorted(grades_in_use(project) - values):
        return (
            f"Judges have given the grade {', '.join(map(str, lost))}, which {kind.name} does "
            "not have. Those judgments would have no grade, so the project keeps its kind."
        )
    counted = kind.settings.get("condition_rule") == Project.ConditionRule.COUNT_MET
    longest = longest_conditions(project) if counted else None
    if longest is not None and longest[0] > max(values):
        return (
            f"The narrative of {longest[1]} has {longest[0]} conditions; {kind.name} counts at "
            f"most {max(values)}. The project keeps its kind."
        )
    return ""


def change_kind(*, key: str, by: Membership) -> Project:
    """Give the project another kind, with its settings, grades, taxonomy and rubric.

    Names and sentences of grades that people of the project wrote are kept. The kind "own" changes
    no setting; the same kind again changes nothing. Refused: a person who is not a lead, an
    archived project, an unknown kind, and a change that would lose data.
    """
    kind = kind_by_key(key)
    if not by.leads:
        raise Refused("Only leads of this project can change its kind.")
    with transaction.atomic():
        project = Project.objects.select_for_update(no_key=True).get(pk=by.project_id)
        refuse_if_archived(project)
        before = kind_of(project.kind)
        if before.key == kind.key:
            return project
        if sentence := refusal_reason(project, kind):
            raise Refused(sentence)
        project.kind = kind.key
        project.save(update_fields=["kind"])
        record(
            project=project,
            what="project.kind",
            about=project,
            changes={"kind": (before.key, kind.key)},
            by=by,
        )
        if kind.settings:
            rules.change_rules(
                changes=dict(kind.settings), grades=_grades_after(project, kind, before), by=by
            )
            project.refresh_from_db()
        add_taxonomy_and_rubric(project=project, kind=kind, by=by)
    return project


def _grades_after(
    project: Project, kind: ProjectKind, before: ProjectKind
) -> list[rules.GradeRule]:
    """Return the grades of a kind, with the names and sentences that people wrote themselves."""
    own = {grade.value: grade for grade in project.grades.all()}
    of_kind = {(grade.value, grade.name, grade.sentence) for grade in before.grades}
    grades = []
    for grade in kind.grades:
        here = own.get(grade.value)
        written = (
            here is not None
            and here.sentence
            and ((here.value, here.name, here.sentence) not in of_kind)
        )
        kept = here if here is not None and written else grade
        grades.append(rules.GradeRule(kept.value, kept.name, kept.sentence))
    return grades
