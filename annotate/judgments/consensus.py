"""Consensus: derive one answer, or none, from several people's. No Django here.

An answer is a grade, or what was said of a condition.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Final, Generic, NamedTuple, TypeVar

Answer = TypeVar("Answer", int, str)


class State(StrEnum):
    """How a candidate's relevance under one narrative version was decided, or why it was not."""

    UNJUDGED = "unjudged"
    JUDGED = "judged"
    DISPUTED = "disputed"
    SETTLED = "settled"


class Outcome(NamedTuple, Generic[Answer]):
    """A relevance with its state. `relevance` is None exactly when unjudged or disputed."""

    relevance: Answer | None
    state: State


UNJUDGED: Final[Outcome[Any]] = Outcome(None, State.UNJUDGED)
DISPUTED: Final[Outcome[Any]] = Outcome(None, State.DISPUTED)

# By the values of `Project.Consensus`: how an export describes the origin of its relevance.
RULES: Final = {
    "unanimous": "A grade counts if everybody who judged the document gave it.",
    "majority": "A grade counts if more than half of those who judged the document gave it.",
}


def consensus(
    grades: Sequence[Answer], rule: str, settled: Answer | None = None
) -> Outcome[Answer]:
    """Return the outcome of `grades`, one from each person, under `rule` (a key of RULES).

    A settling decision (`settled`) overrides all grades. Without grades and without a decision, the
    candidate is unjudged. The order of the grades does not matter. Raises ValueError for a rule
    that is not in RULES.
    """
    if rule not in RULES:
        raise ValueError(f"unknown rule of consensus {rule!r}; known are: {', '.join(RULES)}")
    if settled is not None:
        return Outcome(settled, State.SETTLED)
    if not grades:
        return UNJUDGED
    first = grades[0]
    agreeing = grades.count(first)
    if agreeing == len(grades):
        return Outcome(first, State.JUDGED)
    if rule == "majority":
        # At most one grade has more than half; in a tie none has.
        for grade in set(grades):
            if 2 * grades.count(grade) > len(grades):
                return Outcome(grade, State.JUDGED)
    return DISPUTED
