"""The unit table of a report: one line for each unit, one column for each rater.

It holds the answers that a report counts, so that others can compute agreement themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from enum import StrEnum
from itertools import groupby
from typing import Any

from annotate.projects.models import Membership, Project
from audit.reports.scopes import Scope, rubric_of, week_of
from audit.reports.unit_counts import judgments_in, ratings_in
from base.bulk import in_byte_order

CHUNK = 5_000
_UNIT = ("query_id", "doc_id", "pair_id", "category", "side", "version")
_REVIEWED = ("query_id", "pair_id", "category", "side", "version", "criterion")


class Of(StrEnum):
    """The kinds of unit table."""

    JUDGMENTS = "judgments"
    MACHINES = "machines"
    REVIEWS = "reviews"


def units(project: Project, scope: Scope, of: Of, *, numbered: bool = False) -> Iterator[list[str]]:
    """Yield a header and the lines of the unit table, in the byte order of the ids.

    The columns of people are headed by their names, as in exports, or if `numbered` by "person 1";
    those of machines by their names. An empty cell means no answer; levels of reviews are words.
    """
    if of is Of.REVIEWS:
        yield from _reviews(project, scope, numbered=numbered)
    else:
        yield from _judgments(project, scope, machines=of is Of.MACHINES, numbered=numbered)


def _judgments(
    project: Project, scope: Scope, *, machines: bool, numbered: bool
) -> Iterator[list[str]]:
    judgments = judgments_in(project, scope, machines=machines)
    raters = _raters(judgments.values_list("annotator_id", flat=True), numbered=numbered)
    rows = (
        judgments.order_by(
            in_byte_order("candidate__query__query_id"),
            in_byte_order("candidate__document__doc_id"),
            in_byte_order("narrative__pair__pair_id"),
            in_byte_order("narrative__side"),
            "narrative_id",
        )
        .values_list(
            "candidate__query__query_id",
            "candidate__document__doc_id",
            "narrative__pair__pair_id",
            "narrative__pair__category",
            "narrative__side",
            "narrative__version",
            "annotator_id",
            "relevance",
            "at",
            "annotator__is_machine",
            named=True,
        )
        .iterator(CHUNK)
    )
    yield [*_UNIT, *raters.values()]
    for unit, rows_of_unit in groupby(rows, key=lambda row: row[: len(_UNIT)]):
        answers = list(rows_of_unit)
        if _in_week((row.at for row in answers if not row.annotator__is_machine), scope):
            yield _unit_row(unit, {row.annotator_id: str(row.relevance) for row in answers}, raters)


def _reviews(project: Project, scope: Scope, *, numbered: bool) -> Iterator[list[str]]:
    ratings = ratings_in(project, scope, rubric_of(project))
    raters = _raters(ratings.values_list("review__auditor_id", flat=True), numbered=numbered)
    rows = (
        ratings.order_by(
            in_byte_order("review__narrative__pair__query__query_id"),
            in_byte_order("review__narrative__pair__pair_id"),
            in_byte_order("review__narrative__side"),
            "review__narrative__version",
            in_byte_order("criterion"),
        )
        .values_list(
            "review__narrative__pair__query__query_id",
            "review__narrative__pair__pair_id",
            "review__narrative__pair__category",
            "review__narrative__side",
            "review__narrative__version",
            "criterion",
            "review__auditor_id",
            "level",
            named=True,
        )
        .iterator(CHUNK)
    )
    yield [*_REVIEWED, *raters.values()]
    for unit, answers in groupby(rows, key=lambda row: row[: len(_REVIEWED)]):
        yield _unit_row(unit, {row.review__auditor_id: row.level for row in answers}, raters)


def _raters(keys: Any, *, numbered: bool) -> dict[int, str]:
    """Return the column headers by the keys of the raters: people by name, then machines."""
    raters = Membership.objects.filter(pk__in=keys.order_by().distinct())
    ordered = raters.order_by("is_machine", in_byte_order("name"))
    return {
        pk: f"person {number}" if numbered and not is_machine else name
        for number, (pk, name, is_machine) in enumerate(
            ordered.values_list("pk", "name", "is_machine"), start=1
        )
    }


def _unit_row(unit: tuple[Any, ...], answers: dict[int, str], raters: dict[int, str]) -> list[str]:
    return [*map(str, unit), *(answers.get(rater, "") for rater in raters)]


def _in_week(moments: Iterable[datetime], scope: Scope) -> bool:
    if scope.week is None:
        return True
    start, end = week_of(scope.week)
    last = max(moments, default=None)
    return last is not None and start is not None and end is not None and start <= last < end
