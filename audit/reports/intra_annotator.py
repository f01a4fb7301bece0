"""Intra-annotator agreement: a person's judgment of a document, and of its unannounced repeat.

A unit is a document that was repeated to one person under a current narrative; its two raters are
the first time and the second. The first answer is the one that was current when the repeat was
answered: a grade that was changed afterwards does not come from a separate look.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from typing import Any, NamedTuple

from annotate.judgments.models import Judgment, Repeat, StatementQuerySet
from annotate.pairs.models import Narrative
from annotate.projects.models import Project
from audit.reports.scopes import Scope, narrative_q

# The two raters, in place of members, and their names.
FIRST, AGAIN = 0, 1
TIMES = {FIRST: "first", AGAIN: "again"}


class RepeatedAnswer(NamedTuple):
    """Two answers of one person to one document under one narrative."""

    query: str
    doc_id: str
    pair: str
    first: int
    again: int


class IntraAnnotator(NamedTuple):
    """Documents that people judged twice, by name, and the number left out, by reason.

    Reasons contain `{repeats}` for the noun, which is singular or plural by the count.
    """

    people: dict[str, list[RepeatedAnswer]]
    left_out: dict[str, int]

    @property
    def everybody(self) -> list[RepeatedAnswer]:
        """All answers of all people."""
        return [twice for answers in self.people.values() for twice in answers]

    @property
    def values(self) -> set[int]:
        """Every grade that was given."""
        return {value for twice in self.everybody for value in (twice.first, twice.again)}

    def sum_with(self, sha256: str) -> str:
        """Return a sum of other counts' sum and of these answers; `sha256` if there are none."""
        if not self.people:
            return sha256
        lines = sorted(
            json.dumps([name, *twice]) for name, answers in self.people.items() for twice in answers
        )
        return hashlib.sha256("\n".join([sha256, *lines]).encode()).hexdigest()


NO_REPEATS = IntraAnnotator({}, {})


def count_answers(of: list[RepeatedAnswer]) -> Counter[tuple[tuple[int, int], ...]]:
    """Count how often each pair of answers was given, as in `audit.reports.unit_counts`."""
    return Counter(((FIRST, twice.first), (AGAIN, twice.again)) for twice in of)


def intra_annotator(project: Project, scope: Scope) -> IntraAnnotator:
    """Return people's double answers in a part of a project, by name: four queries.

    A scope with a criterion, a time or blind judgments has none: a repeat has two times.
    """
    every = repeats_in(project.pk, scope)
    judgments = every.current()
    in_force = set(Narrative.objects.in_force([project.pk]).values_list("pk", flat=True))
    rows: list[Any] = list(
        judgments.order_by("annotator__name", "pk").values_list(
            "narrative",
            "candidate",
            "annotator",
            "annotator__name",
            "candidate__query__query_id",
            "candidate__document__doc_id",
            "narrative__pair__pair_id",
            "relevance",
            "first__relevance",
            "first__withdrawn_at",
            "candidate__removed_at",
        )
    )
    later = _later_grades(rows)
    people: dict[str, list[RepeatedAnswer]] = defaultdict(list)
    left_out: dict[str, int] = defaultdict(int)
    for narrative, candidate, annotator, name, *named, again, first, taken_back, removed in rows:
        if narrative not in in_force:
            left_out["{repeats} under an older version of the narrative"] += 1
        elif removed is not None:
            left_out["{repeats} of a document that was taken out"] += 1
        elif again is None:
            left_out["{repeats} flagged instead of judged"] += 1
        else:
            if first is None or taken_back is not None:
                first = later.get((narrative, candidate, annotator))
            if first is None:
                left_out["{repeats} of a document without a first judgment"] += 1
            else:
                people[name].append(RepeatedAnswer._make((*named, first, again)))
    older = every.filter(ended_at__isnull=True, text_replaced_at__isnull=False)
    if count := older.filter(narrative__in=in_force).count():
        left_out["{repeats} of an older text of the document"] = count
    return IntraAnnotator(dict(people), dict(left_out))


def repeats_in(project: int, scope: Scope) -> StatementQuerySet[Repeat]:
    """Return all of people's answers to repeats in a part of a project (by its key)."""
    repeats = Repeat.objects.filter(
        narrative_q(scope, "narrative__"), annotator__project=project, annotator__is_machine=False
    )
    if scope.people:
        repeats = repeats.filter(annotator__name__in=scope.people)
    if scope.criterion or scope.guideline is not None or scope.week is not None or scope.blind:
        return repeats.none()
    return repeats


def _later_grades(rows: list[Any]) -> dict[tuple[int, int, int], int]:
    """Return the current grades of documents that had no judgment when they were repeated, or one
    that was withdrawn.
    """
    wanted = {tuple(row[:3]) for row in rows if row[8] is None or row[9] is not None}
    if not wanted:
        return {}
    narratives, candidates, annotators = map(set, zip(*wanted, strict=True))
    standing = Judgment.objects.current().filter(
        narrative__in=narratives, candidate__in=candidates, annotator__in=annotators
    )
    return {
        (narrative, candidate, annotator): relevance
        for narrative, candidate, annotator, relevance in standing.values_list(
            "narrative", "candidate", "annotator", "relevance"
        )
        if (narrative, candidate, annotator) in wanted
    }
