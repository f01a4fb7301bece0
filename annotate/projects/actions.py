"""Create projects, and change their rules, grades and kind."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.text import slugify

from annotate.judgments.in_force import grades_in_use
from annotate.pairs.models import Narrative
from annotate.projects.access import lock_project
from annotate.projects.audit_log import record
from annotate.projects.kinds import KINDS, KindGrade, ProjectKind, kind_of
from annotate.projects.kinds.own import OWN
from annotate.projects.models import Category, Grade, Link, Membership, Project
from annotate.projects.taxonomy import OVERTAKEN, TAXONOMIES
from base.constraints import deletions_allowed
from base.errors import (
    InvalidField,
    Refused,
    Stale,
    refuse_invalid_characters,
    refuse_invalid_names,
    state_token,
)
from base.providers import Provider
from base.texts import tidy
from base.users import User

# The most grades of a project.
MOST_GRADES = 20
TOO_MANY_GRADES = f"A project has at most {MOST_GRADES} grades."
SLUG = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}")

# Default grade names of the usual scales; a lead can rename them and add sentences.
NAMES = {
    2: ("Not relevant", "Relevant"),
    3: ("Not relevant", "Relevant", "Highly relevant"),
    4: ("Not relevant", "Marginally relevant", "Relevant", "Highly relevant"),
}


def create_project(
    *,
    slug: str = "",
    grades: Sequence[int] | None = None,
    name: str = "",
    kind: str = OWN.key,
    by: User | None = None,
    now: datetime | None = None,
) -> Project:
    """Create a project of a kind, led by `by` if given; `grades` replace those of the kind.

    `slug`: the short name, by default a free one made from the name.

    Refused: a short name that is taken or has characters other than lower-case letters, digits,
    hyphens and underscores; a name with control characters; an unknown kind; fewer than two grades
    or a repeated one; grades without, or not above the lowest, the one from which the kind counts
    documents as relevant. A kind without such a grade takes 1, or else the second lowest.
    """
    of_kind = kind_by_key(kind)
    now = now or timezone.now()
    slug = slug or free_slug(slugify(name)[:70].rstrip("-"))
    if not SLUG.fullmatch(slug):
        raise Refused(
            f"“{slug or name}” cannot be a project's short name: use lower-case letters, digits "
            "and hyphens, beginning with a letter or digit, at most 80."
        )
    refuse_invalid_names(name)
    if grades is None:
        grades = [grade.value for grade in of_kind.grades]
    if len(grades) < 2 or len(set(grades)) != len(grades):
        raise InvalidField(
            "A project needs at least two different grades, such as 0 and 1.", "grades"
        )
    if len(grades) > MOST_GRADES:
        raise InvalidField(TOO_MANY_GRADES, "grades")
    threshold = of_kind.settings.get("relevant_from")
    if threshold is not None and (threshold not in grades or threshold == min(grades)):
        raise InvalidField(
            f"{of_kind.name} counts documents as relevant from grade {threshold}, which is "
            "not above the lowest of these grades. Leave the grades out to use those of the "
            "kind.",
            "grades",
        )
    try:
        with transaction.atomic():
            project = Project.objects.create(
                slug=slug,
                name=name or slug,
                kind=kind,
                created_at=now,
                **{"relevant_from": _relevant_from(grades), **of_kind.settings},
            )
            _make_grades(project, sorted(grades), of_kind)
            lead = None
            if by is not None:
                lead = Membership.objects.create(
                    project=project,
                    user=by,
                    name=by.get_username(),
                    role=Membership.Role.LEAD,
                    joined_at=now,
                )
            record(project=project, what="project.made", about=project, by=by, now=now)
            _add_taxonomy_and_rubric(project=project, kind=of_kind, by=lead)
    except IntegrityError as error:
        raise Refused(f"A project “{slug}” already exists. Choose another short name.") from error
    return project


def _relevant_from(grades: Sequence[int]) -> int:
    """Return the grade from which documents are relevant by default: above the lowest."""
    above = sorted(grades)[1:]
    return 1 if 1 in above else above[0]


def free_slug(wanted: str) -> str:
    """Return this short name, with the first free number after it if it is taken."""
    taken = set(Project.objects.filter(slug__startswith=wanted).values_list("slug", flat=True))
    numbered = (f"{wanted}-{number}" for number in range(2, len(taken) + 3))
    return next(slug for slug in (wanted, *numbered) if slug not in taken)


def _make_grades(project: Project, values: Sequence[int], kind: ProjectKind) -> None:
    """Create the grades, with the kind's names and sentences if they are exactly its grades."""
    worded = {grade.value: grade for grade in kind.grades}
    if list(worded) == list(values):
        words = [(grade.name, grade.sentence) for grade in worded.values()]
    else:
        names = NAMES.get(len(values), ()) if values[0] == 0 else ()
        words = [(name, "") for name in names or [f"Grade {value}" for value in values]]
    Grade.objects.bulk_create(
        Grade(project=project, value=value, name=name, sentence=sentence)
        for value, (name, sentence) in zip(values, words, strict=True)
    )


def delete_new_project(*, project: Project) -> None:
    """Delete a new, empty project and its audit log, as if it had never been created.

    Raises ProtectedError and deletes nothing if the project contains anything.
    """
    with deletions_allowed():
        project.audit_events.all().delete()
        Link.objects.filter(project=project, kind="audit event").delete()
        project.rubrics.all().delete()
        project.delete()


# With the rule of bands: for 0, 1, 2 or 3 and 4 or more conditions met, and "related" or not.
GRADES_OF_BANDS = (4, 5)
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
    grades: Sequence[KindGrade] | None = None,
    token: str = "",
    by: Membership,
    now: datetime | None = None,
) -> Project:
    """Set the project's fields named in `changes` and, if given, its grades, all or nothing.

    A grade that has been given cannot be removed. At least two grades are required, and
    `relevant_from` must be one of them above the lowest. If relevance is the number of conditions
    met, every possible number must be a grade. Stale: `token` is that of other rules
    (`rules_token`).
    """
    if unknown := set(changes) - set(FIELDS):
        raise Refused(f"There is no rule called {', '.join(sorted(unknown))}.")
    refuse_invalid_names(str(changes.get("name", "")))
    refuse_invalid_characters(tidy(str(changes.get("description", ""))))
    with transaction.atomic():
        project = lock_project(
            by.project_id, by, "Only leads of this project can change its rules."
        )
        if token and token != rules_token(project):
            raise Stale(OVERTAKEN)
        before = {field: getattr(project, field) for field in changes} | _grades_for_log(project)
        if grades is None:
            grades = [KindGrade(*row) for row in _grade_rows(project)]
        for field, value in changes.items():
            setattr(project, field, value)
        _check_grades(project, grades)
        project.full_clean()
        project.save()
        project.grades.exclude(value__in=[grade.value for grade in grades]).delete()
        for grade in grades:
            Grade.objects.update_or_create(
                project=project,
                value=grade.value,
                defaults={"name": grade.name, "sentence": grade.sentence},
            )
        after = {field: getattr(project, field) for field in changes} | _grades_for_log(project)
        changed = {field: (before[field], after[field]) for field in before}
        if before != after:
            what = "project.rules"
            record(project=project, what=what, about=project, changes=changed, by=by, now=now)
    return project


def rules_token(project: Project) -> str:
    """Return a token of the project's rules and grades, which differs once they have changed."""
    rules = [str(getattr(project, field)) for field in FIELDS]
    return state_token(rules, _grade_rows(project))


def _check_grades(project: Project, grades: Sequence[KindGrade]) -> None:
    """Refuse grades that do not fit each other, the project's rules or its judgments."""
    refuse_invalid_names(*(grade.name for grade in grades))
    for grade in grades:
        refuse_invalid_characters(tidy(grade.sentence))
    values = [grade.value for grade in grades]
    if len(set(values)) != len(values):
        raise Refused("Two grades have the same value. Give each a different value.")
    if len(values) < 2:
        raise Refused("A project needs at least two grades.")
    if len(values) > MOST_GRADES:
        raise Refused(TOO_MANY_GRADES)
    if project.relevant_from not in values or project.relevant_from == min(values):
        reach = ", ".join(map(str, sorted(values)[1:]))
        raise Refused(f"“Relevant from” must be a grade above the lowest: {reach}.")
    if project.condition_rule == Project.ConditionRule.COUNT_MET:
        _check_counted(project, values)
    if project.condition_rule == Project.ConditionRule.BANDS and len(values) not in GRADES_OF_BANDS:
        raise Refused(
            "If relevance follows from how many conditions are met, there must be 4 grades: for "
            "none, 1, 2 or 3, and 4 or more; or 5, with one for documents that are only related."
        )
    if lost := sorted(grades_in_use(project) - set(values)):
        given_away = ", ".join(map(str, lost))
        raise Refused(f"Judges have given the grade {given_away}, so it cannot be removed.")


def _grade_rows(project: Project) -> list[tuple[int, str, str]]:
    return list(project.grades.order_by("value").values_list("value", "name", "sentence"))


def _grades_for_log(project: Project) -> dict[str, object]:
    """Return the grades in the form that the audit log stores."""
    return {"grades": [list(row) for row in _grade_rows(project)]}


def _check_counted(project: Project, values: Sequence[int]) -> None:
    """Refuse grades if a possible number of met conditions is not among them."""
    if sorted(values) != list(range(len(values))):
        raise Refused(
            "If relevance is the number of conditions that are met, the grades must be 0, "
            "1, 2 and so on, without a gap."
        )
    longest = Narrative.objects.longest_conditions(project)
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


def _add_taxonomy_and_rubric(*, project: Project, kind: ProjectKind, by: Membership | None) -> None:
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
        for field in FIELDS
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
    rule = kind.settings.get("condition_rule", project.condition_rule)
    if rule == Project.ConditionRule.BANDS and len(values) not in GRADES_OF_BANDS:
        return (
            f"Relevance follows from how many conditions are met, and {kind.name} does not have "
            "4 or 5 grades. Choose another rule in the settings first."
        )
    counted = rule == Project.ConditionRule.COUNT_MET
    longest = Narrative.objects.longest_conditions(project) if counted else None
    if longest is not None and longest[0] > max(values):
        return (
            f"The narrative of {longest[1]} has {longest[0]} conditions; {kind.name} counts at "
            f"most {max(values)}. The project keeps its kind."
        )
    return ""


def change_kind(*, key: str, by: Membership, token: str = "") -> Project:
    """Give the project another kind, with its settings, grades, taxonomy and rubric.

    Names and sentences of grades that people of the project wrote are kept. The kind "own" changes
    no setting; the same kind again changes nothing. Refused: a person who is not a lead, an
    archived project, an unknown kind, and a change that would lose data. Stale: `token` is that of
    other rules (`rules_token`), so that something else would change than the lead has seen.
    """
    kind = kind_by_key(key)
    with transaction.atomic():
        project = lock_project(by.project_id, by, "Only leads of this project can change its kind.")
        before = kind_of(project.kind)
        if before.key == kind.key:
            return project
        if token and token != rules_token(project):
            raise Stale("The settings have changed since you looked at this kind. Look again.")
        if sentence := refusal_reason(project, kind):
            raise Refused(sentence)
        project.kind = kind.key
        project.save(update_fields=["kind"])
        changes = {"kind": (before.key, kind.key)}
        record(project=project, what="project.kind", about=project, changes=changes, by=by)
        if kind.settings:
            change_rules(
                changes=dict(kind.settings), grades=_grades_after(project, kind, before), by=by
            )
            project.refresh_from_db()
        _add_taxonomy_and_rubric(project=project, kind=kind, by=by)
    return project


def _grades_after(project: Project, kind: ProjectKind, before: ProjectKind) -> list[KindGrade]:
    """Return the grades of a kind, with the names and sentences that people wrote themselves."""
    own = {grade.value: grade for grade in project.grades.all()}
    grades = []
    for grade in kind.grades:
        here = own.get(grade.value)
        kept = KindGrade(here.value, here.name, here.sentence) if here else None
        if kept is None or kept in before.grades or _is_unnamed(kept):
            grades.append(grade)
        else:
            grades.append(kept._replace(sentence=kept.sentence or grade.sentence))
    return grades


def _is_unnamed(grade: KindGrade) -> bool:
    """Return whether a grade has a name that new projects give by default, and no sentence."""
    usual = {name for names in NAMES.values() for name in names}
    return not grade.sentence and grade.name in {*usual, f"Grade {grade.value}"}
