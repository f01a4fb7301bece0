"""The answers under versions of narratives, which become stale when another version is current."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from annotate.judgments.models import Adjudication, ConditionAdjudication, Flag, Judgment


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


def register(*answers: Answers) -> None:
    """Register more kinds of answers; apps call it once, at start."""
    _answers.extend(kind for kind in answers if kind not in _answers)


def describe_answers(narratives: Sequence[int]) -> str:
    """Count the current answers under these narratives: "24 judgments, 3 settlements", or ""."""
    counts = [(kind, kind.count(narratives)) for kind in _answers]
    return ", ".join(kind.describe(number) for kind, number in counts if number)
