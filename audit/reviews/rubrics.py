"""Look up rubrics: those of a project, and those shipped with Rejudge."""

from __future__ import annotations

from collections.abc import Iterable

from annotate.pairs.models import Narrative
from annotate.projects.models import Project
from audit.reviews.criteria import DEFAULT, SHIPPED, Rubric
from audit.reviews.models import Review
from audit.reviews.models import Rubric as Kept
from base.control_characters import strange


class UnknownRubric(LookupError):
    """The project has no rubric of this name."""


def has_reviews(project: Project) -> bool:
    """Return whether the project wants reviews or has any; without them criteria do not matter."""
    reviewed = Review.objects.filter(narrative__pair__project=project)
    return bool(project.overlap_review) or reviewed.exists()


def in_force(project: int) -> Rubric:
    """Return the current rubric of a project, which new reviews use."""
    chosen = Kept.objects.in_force(project)
    return chosen.content if chosen is not None else DEFAULT


def named(project: int, name: str) -> Rubric:
    """Return the rubric of this name, or raise UnknownRubric."""
    # A shipped rubric never changes, and a project cannot reuse its name.
    if name in SHIPPED:
        return SHIPPED[name]
    # A form may send characters that PostgreSQL rejects even in a query.
    kept = None if strange(name) else Kept.objects.filter(project=project, name=name).first()
    if kept is None:
        raise UnknownRubric(f"project {project} has no rubric {name}")
    return kept.content


def names(project: int) -> list[str]:
    """Return the names of every rubric a project can choose: its own and the shipped ones."""
    own = Kept.objects.filter(project=project).values_list("name", flat=True)
    return sorted({*own, *SHIPPED})


def next_name(project: int, name: str) -> str:
    """Return the next free name of this form: “ours-1” is followed by “ours-2”."""
    stem, _, number = name.rpartition("-")
    if not stem or not number.isdecimal():
        stem, number = name, "1"
    taken = names(project)
    version = int(number) + 1
    while f"{stem}-{version}" in taken:
        version += 1
    return f"{stem}-{version}"


def under(narrative: Narrative, project: int) -> Rubric:
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
    return in_force(project) if first is None else named(project, first)


def of_reviews(reviews: Iterable[Review]) -> dict[tuple[int, str], Rubric]:
    """Return the rubrics of some reviews, by project and name: one query at most.

    The reviews must have `auditor` loaded.
    """
    asked = {(review.auditor.project_id, review.rubric) for review in reviews}
    found = {one: SHIPPED[one[1]] for one in asked if one[1] in SHIPPED}
    if missing := asked - found.keys():
        kept = Kept.objects.filter(
            project__in={project for project, _ in missing}, name__in={name for _, name in missing}
        )
        found |= {(one.project_id, one.name): one.content for one in kept}
    return found
