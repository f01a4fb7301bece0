"""Outcomes of checked grades, for exports and for the rules of a kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from django.db.models import Q, QuerySet

from annotate.collection.answers import AnswerKind
from annotate.judgments.in_force import in_pools
from annotate.pairs.models import Narrative
from annotate.projects.models import Project
from audit.checks.models import Check, Sample, SampleItem
from audit.checks.queue import with_checks

CHUNK = 5_000


class CheckOutcome(NamedTuple):
    """The outcome of one label's checks; without an outcome, whether its check is over."""

    outcome: int | None
    over: bool


def newest_outcomes(
    rows: Iterator[tuple[int, int, int | None, bool]],
) -> dict[tuple[int, int], CheckOutcome]:
    """Return the outcome of each label, by narrative and candidate, over all samples.

    `rows` are in the order in which the samples were made. The newest sample with an outcome wins;
    without any outcome, the label is open while one of its samples is open.
    """
    outcomes: dict[tuple[int, int], CheckOutcome] = {}
    for narrative, candidate, outcome, unjudgeable in rows:
        earlier = outcomes.get((narrative, candidate), CheckOutcome(None, True))
        if outcome is not None:
            outcomes[narrative, candidate] = CheckOutcome(outcome, True)
        elif earlier.outcome is None:
            outcomes[narrative, candidate] = CheckOutcome(None, earlier.over and unjudgeable)
    return outcomes


def checked_items(**which: Any) -> QuerySet[Any, Any]:
    """Return the labels of samples that ask for grades, or for two questions that decide them, with
    the answers to each. A number of conditions met is a grade if the project says so.
    """
    counts_are_grades = Q(sample__project__condition_rule=Project.ConditionRule.COUNT_MET)
    of_grades = SampleItem.objects.filter(~Q(sample__asks=Sample.Asks.COUNT) | counts_are_grades)
    return with_checks(of_grades.filter(**which))


def checked_labels(narratives: QuerySet[Narrative]) -> dict[tuple[int, int], int]:
    """Return the checked grade by narrative and candidate: one query."""
    rows: Iterator[Any] = (
        checked_items(narrative__in=narratives.values("pk"))
        .filter(in_pools())
        .order_by("sample__created_at", "sample__name")
        .values_list("narrative", "candidate", "outcome", "unjudgeable")
        .iterator(CHUNK)
    )
    return {
        place: outcome.outcome
        for place, outcome in newest_outcomes(rows).items()
        if outcome.outcome is not None
    }


CHECKS = AnswerKind(
    singular="check of a label",
    plural="checks of labels",
    current=Check.objects.current,
    narrative="item__narrative",
    candidate="item__candidate",
)
