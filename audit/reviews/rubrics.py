"""Rubrics: look them up, save one in a project, and choose the current one."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from django.db import transaction
from django.db.models import Exists
from django.utils import timezone

from annotate.pairs.models import Narrative
from annotate.projects import access as projects_access
from annotate.projects.audit_log import record
from annotate.projects.models import Membership, Project
from audit.reviews.criteria import DEFAULT, SHIPPED, Rubric
from audit.reviews.models import Review
from audit.reviews.models import Rubric as RubricRow
from base.errors import Refused
from base.texts import first_invalid_character
from formats.records import RubricRecord

_ONLY_LEADS = "Only leads of this project choose its rubric."
MAX_NAME = RubricRow._meta.get_field("name").max_length or 0


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


def chosen_rubrics(project: int) -> list[Rubric]:
    """Return the rubrics that a project uses or used, the current one first: one query.

    A shipped rubric that the project did not choose is used if it has reviews by it.
    """
    reviews = Review.objects.submitted().filter(auditor__project=project)
    by_shipped = {
        f"shipped_{number}": Exists(reviews.filter(rubric=name))
        for number, name in enumerate(SHIPPED)
    }
    chosen = RubricRow.objects.filter(project=project, chosen_at__isnull=False)
    rows = list(chosen.order_by("-chosen_at", "-pk").annotate(**by_shipped))
    if not rows:
        return [DEFAULT]
    own = [row.content for row in rows]
    names = {rubric.name for rubric in own}
    return own + [
        rubric
        for number, rubric in enumerate(SHIPPED.values())
        if rubric.name not in names and getattr(rows[0], f"shipped_{number}")
    ]


def criterion_names(rubrics: Iterable[Rubric]) -> dict[str, str]:
    """Return the names of the criteria of some rubrics by key; the first rubric's name counts."""
    names: dict[str, str] = {}
    for rubric in rubrics:
        for criterion in rubric.criteria:
            names.setdefault(criterion.key, criterion.name)
    return names


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
    """Return the next free name of this form: “ours-1” is followed by “ours-2”. A name that would
    be too long is cut before its number.
    """
    stem, _, number = name.rpartition("-")
    if not stem or not number.isdecimal():
        stem, number = name, "1"
    taken = rubric_names(project)
    version = int(number) + 1
    while _numbered(stem, version) in taken:
        version += 1
    return _numbered(stem, version)


def _numbered(stem: str, version: int) -> str:
    suffix = f"-{version}"
    return stem[: MAX_NAME - len(suffix)] + suffix


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
        projects_access.lock_project(project.pk, by, _ONLY_LEADS)
        stored = RubricRow.objects.filter(project=project, name=content.name).first()
        shipped = SHIPPED.get(content.name)
        existing = (
            shipped if shipped is not None else stored.content if stored is not None else None
        )
        if existing is not None and tuple(existing) != tuple(content):
            free = next_name(project.pk, content.name)
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
        projects_access.lock_project(project.pk, by, _ONLY_LEADS)
        try:
            content = get_rubric(project.pk, name)
        except UnknownRubric:
            raise Refused(
                f"There is no rubric “{name}” in this project. There are: "
                f"{', '.join(rubric_names(project.pk))}."
            ) from None
        stored = RubricRow.objects.filter(project=project, name=name).first()
        row = stored or RubricRow.from_content(
            content, project=project, created_at=now, created_by=by
        )
        return _make_current(row, by, now)


def use_shipped_rubric(project: Project, name: str, by: Membership | None) -> None:
    """Make a shipped rubric current unless it is already."""
    if current_rubric(project.pk).name != name:
        choose_rubric(project=project, name=name, by=by)


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
