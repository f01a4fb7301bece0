"""What checks of grades came to: for exports, and for the rules of a kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from django.db.models import Q, QuerySet

from annotate.judgments.in_force import in_pools
from annotate.pairs.models import Narrative
from annotate.projects.models import Project
from audit.checks.models import Check, Sample, SampleItem
from audit.checks.queue import with_checks

CHUNK = 5_000


class Found(NamedTuple):
    """What checks of one label came to: an outcome; without one, whether its check is over."""

    outcome: int | None
    over: bool


def newest(rows: Iterator[tuple[int, int, int | None, bool]]) -> dict[tuple[int, int], Found]:
    """Return what each label came to, by narrative and candidate, from the checks of all samples.

    `rows` come in the order in which the samples were made. Of several samples with an outcome the
    one made last has the word; without any, the label is open while one of them is.
    """
    found: dict[tuple[int, int], Found] = {}
    for narrative, candidate, outcome, unjudgeable in rows:
        earlier = found.get((narrative, candidate), Found(None, True))
        if outcome is not None:
            found[narrative, candidate] = Found(outcome, True)
        elif earlier.outcome is None:
            found[narrative, candidate] = Found(None, earlier.over and unjudgeable)
    return found


def checked_items(**which: Any) -> QuerySet[Any, Any]:
    """Return the labels of samples that ask for grades, or for two questions that decide them, with
    what was said of each. A number of conditions that are met is a grade where the project says so.
    """
    counts_are_grades = Q(sample__project__condition_rule=Project.ConditionRule.COUNT_MET)
    of_grades = SampleItem.objects.filter(~Q(sample__asks=Sample.Asks.COUNT) | counts_are_grades)
    return with_checks(of_grades.filter(**which))


def checked_labels(narratives: QuerySet[Narrative]) -> dict[tuple[int, int], int]:
    """Return the grade that checks came to, by narrative and candidate: one query."""
    rows: Iterator[Any] = (
        checked_items(narrative__in=narratives.values("pk"))
        .filter(in_pools())
        .order_by("sample__created_at", "sample__name")
        .values_list("narrative", "candidate", "outcome", "unjudgeable")
        .iterator(CHUNK)
    )
    return {place: one.outcome for place, one in newest(rows).items() if one.outcome is not None}


def checks_of(candidates: Sequence[int]) -> int:
    """Return how many checks there are of these candidates now."""
    return Check.objects.current().filter(item__candidate__in=candidates).count()
