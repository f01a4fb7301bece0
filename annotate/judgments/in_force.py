"""The answers that count now, those under versions of narratives, and the grades in use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from django.db.models import Q, QuerySet

from annotate.collection.models import Candidate
from annotate.collection.shown_documents import shown_to_judges
from annotate.judgments.models import Adjudication, ConditionAdjudication, Flag, Judgment
from annotate.pairs.pool import judged_narratives
from annotate.projects.models import Project


def judgments_in_force(*projects: Project) -> QuerySet[Judgment]:
    """Return people's current judgments of the documents to judge, under current narratives."""
    return Judgment.objects.current().of_people().filter(_in_force(*projects))


def final_flags(*projects: Project) -> QuerySet[Flag]:
    """Return people's current flags other than "later", under the current narratives."""
    flags = Flag.objects.current().filter(_in_force(*projects), annotator__is_machine=False)
    return flags.exclude(flag=Flag.Kind.LATER)


def in_pools(candidate: str = "candidate") -> Q:
    """Return a filter for rows whose candidate was not taken out of its pool.

    It excludes the few that were by a subquery: a join would read the candidate of every row.
    """
    removed = Candidate.with_removed.filter(removed_at__isnull=False).values("pk")
    return ~Q(**{f"{candidate}__in": removed})


def _in_force(*projects: Project) -> Q:
    """Return a filter for answers to documents to judge, under the narratives judged now."""
    shown = shown_to_judges(*projects, project="narrative__pair__project", candidate="candidate__")
    return in_pools() & shown & Q(narrative__in=judged_narratives(*projects))


def grades_in_use(project: Project) -> set[int]:
    """Return the grades in a project's judgments and settling decisions."""
    judged = Judgment.objects.filter(annotator__project=project).values_list("relevance")
    settled = Adjudication.objects.filter(by__project=project).values_list("relevance")
    return {value for (value,) in judged.union(settled)}


def is_judged(project: Project) -> bool:
    """Return whether a project has any judgments."""
    return Judgment.objects.filter(annotator__project=project).exists()


class Answers(NamedTuple):
    """One kind of answers, and how to count the current ones under narratives (by key)."""

    singular: str
    plural: str
    count: Callable[[Sequence[int]], int]

    def describe(self, number: int) -> str:
        """Return the number with the name of the answers: "3 judgments"."""
        return f"{number:,} {self.singular if number == 1 else self.plural}"


def _judgments(narratives: Sequence[int]) -> int:
    rows = Judgment.objects.current().of_people()
    return rows.filter(narrative__in=narratives).count()


def _claims(narratives: Sequence[int]) -> int:
    rows = Judgment.objects.current().filter(annotator__is_machine=True)
    return rows.filter(narrative__in=narratives).count()


def _flags(narratives: Sequence[int]) -> int:
    return Flag.objects.current().filter(narrative__in=narratives).count()


def _settlements(narratives: Sequence[int]) -> int:
    of_grades = Adjudication.objects.current().filter(narrative__in=narratives)
    of_conditions = ConditionAdjudication.objects.current().filter(
        condition__narrative__in=narratives
    )
    return of_grades.count() + of_conditions.count()


_answers = [
    Answers("judgment", "judgments", _judgments),
    Answers("claimed label", "claimed labels", _claims),
    Answers("flag", "flags", _flags),
    Answers("settlement", "settlements", _settlements),
]


def register_answers(*answers: Answers) -> None:
    """Register more kinds of answers; apps call it once, at start."""
    _answers.extend(kind for kind in answers if kind not in _answers)


def describe_answers(narratives: Sequence[int]) -> str:
    """Count the current answers under these narratives: "24 judgments, 3 settlements", or ""."""
    counts = [(kind, kind.count(narratives)) for kind in _answers]
    return ", ".join(kind.describe(number) for kind, number in counts if number)
