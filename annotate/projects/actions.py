"""Create projects."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from django.db import IntegrityError, transaction
from django.utils import timezone

from annotate.projects.audit_log import record
from annotate.projects.kind_settings import add_taxonomy_and_rubric, kind_by_key
from annotate.projects.kinds import ProjectKind
from annotate.projects.kinds.own import OWN
from annotate.projects.models import Grade, Link, Membership, Project
from base.append_only import deletions_allowed
from base.errors import Refused, refuse_invalid_names
from base.users import User

SLUG = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}")

# Default grade names of the usual scales; a lead can rename them and add sentences.
NAMES = {
    2: ("Not relevant", "Relevant"),
    3: ("Not relevant", "Relevant", "Highly relevant"),
    4: ("Not relevant", "Marginally relevant", "Relevant", "Highly relevant"),
}


def create_project(
    *,
    slug: str,
    grades: Sequence[int] | None = None,
    name: str = "",
    kind: str = OWN.key,
    by: User | None = None,
    now: datetime | None = None,
) -> Project:
    """Create a project of a kind, led by `by` if given; `grades` replace those of the kind.

    Refused: a short name that is taken or has characters other than lower-case letters, digits,
    hyphens and underscores; a name with control characters; an unknown kind; fewer than two grades
    or a repeated one; grades without, or not above the lowest, the one from which the kind counts
    documents as relevant.
    """
    of_kind = kind_by_key(kind)
    now = now or timezone.now()
    if not SLUG.fullmatch(slug):
        raise Refused(
            f"“{slug}” cannot be a project's short name: use lower-case letters, digits and "
            "hyphens, beginning with a letter or digit, at most 80."
        )
    refuse_invalid_names(name)
    if grades is None:
        grades = [grade.value for grade in of_kind.grades]
    if len(grades) < 2 or len(set(grades)) != len(grades):
        raise Refused("A project needs at least two different grades, such as 0 and 1.")
    threshold = of_kind.settings.get("relevant_from")
    if threshold is not None and (threshold not in grades or threshold == min(grades)):
        raise Refused(
            f"{of_kind.name} counts documents as relevant from grade {threshold}, which is "
            "not above the lowest of these grades. Leave the grades out to use those of the "
            "kind."
        )
    try:
        with transaction.atomic():
            project = Project.objects.create(
                slug=slug, name=name or slug, kind=kind, created_at=now, **of_kind.settings
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
            add_taxonomy_and_rubric(project=project, kind=of_kind, by=lead)
    except IntegrityError as error:
        raise Refused(f"A project “{slug}” already exists. Choose another short name.") from error
    return project


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
