"""Look up rubrics: those of a project, and those shipped with Rejudge."""

from __future__ import annotations

from collections.abc import Iterable

from annotate.pairs.models import Narrative
from annotate.projects.models import Project
from audit.reviews.criteria import DEFAULT, SHIPPED, Rubric
from audit.reviews.models import Review
from audit.reviews.models import Rubric as RubricRow
from base.control_characters import first_invalid_character


class UnknownRubric(LookupError):
    """The project has no rubric of this name."""


def has_reviews(project: Project) -> bool:
    """Return whether the project wants reviews or has any; without them criteria do not matter."""
    reviewed = Review.objects.filter(narrative__pair__project=project)
    return bool(project.overlap_review) or reviewed.exists()


def current_rubric(project: int) -> Rubric:
    """Return the current rubric of a project, which new reviews use."""
    chosen = RubricRow.objects.current_of(project)
    return chosen.content if chosen is not None else DEFAULT


def get_rubric(project: int, name: str) -> Rubric:
    """Return the rubric of this name, or raise UnknownRubric."""
    # A shipped rubric never changes, and a project cannot reuse its name.
    if name in SHIPPED:
        return SHIPPED[name]
    # A form may send characters that PostgreSQL rejects even in a query.
    row = (
        None
        if first_invalid_character(name)
        else RubricRow.objects.filter(project=project, name=name).first()
    )
    if row is None:
        raise UnknownRubric(f"project {project} has no rubric {name}")
    return row.content


def rubric_names(project: int) -> list[str]:
    """Return the names of every rubric a project can choose: its own and the shipped ones."""
    own = RubricRow.objects.filter(project=project).values_list("name", flat=True)
    return sorted({*own, *SHIPPED})


def next_name(project: int, name: str) -> str:
    """Return the next free name of this form: “ours-1” is followed by “ours-2”."""
    stem, _, number = name.rpartition("-")
    if not stem or not number.isdecimal():
        stem, number = name, "1"
    taken = rubric_names(project)
    version = int(number) + 1
    while f"{stem}-{version}" in taken:
        version += 1
    return f"{stem}-{version}"


def rubric_for(narrative: Narrative, project: int) -> Rubric:
    """Return the rubric for reviews of a narrative version.

    Everybody who reviews a version uses the same rubric: that of the first review.
    """
    first = (
        Review.objects.of_people()
        .filter(narrative=narrative)
        .order_by("pk")
        .values_list("rubric", flat=True)
        .first()
    )
    return current_rubric(project) if first is None else get_rubric(project, first)


def rubrics_of(reviews: Iterable[Review]) -> dict[tuple[int, str], Rubric]:
    """Return the rubrics of some reviews, by project and name: one query at most.

    The reviews must have `auditor` loaded.
    """
    keys = {(review.auditor.project_id, review.rubric) for review in reviews}
    rubrics = {(project, name): SHIPPED[name] for project, name in keys if name in SHIPPED}
    if missing := keys - rubrics.keys():
        rows = RubricRow.objects.filter(
            project__in={project for project, _ in missing}, name__in={name for _, name in missing}
        )
        rubrics |= {(row.project_id, row.name): row.content for row in rows}
    return rubrics
