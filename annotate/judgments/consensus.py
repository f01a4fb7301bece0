"""Derive one answer, or none, from several: from several people's their consensus, and from the
verdicts on a narrative's conditions the relevance. No Django here.

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


# --- verdicts on conditions -----------------------------------------------------------------------

# The values of models.Verdict.Answer and models.Project.ConditionRule.
MET, NOT_MET, CANT_TELL = "met", "not_met", "cant_tell"
BY_HAND, ALL_MET, COUNT_MET, BANDS = "by_hand", "all_met", "count_met", "bands"
# By the rule of bands: the fewest conditions met for each of the highest grades.
BANDS_FROM = (1, 2, 4)


def derive_relevance(rule: str, answers: Sequence[str | None], grades: Sequence[int]) -> int | None:
    """Return the relevance that follows from one answer per condition (None: not answered yet),
    or None if no relevance follows.

    `all_met`: the highest grade if every condition is met, the lowest if one is not. `count_met`:
    the number of conditions met, if that is one of the grades. `bands`: the highest three grades
    are for 1, for 2 or 3, and for 4 or more conditions met; if none is met it is the lowest grade,
    unless there is one between, for documents that are only related. With the answer "can't tell"
    no relevance follows, except by `all_met` where another condition is not met.
    """
    if rule == ALL_MET and answers:
        if NOT_MET in answers and None not in answers:
            return min(grades)
        return max(grades) if all(answer == MET for answer in answers) else None
    if not answers or not all(answer in {MET, NOT_MET} for answer in answers):
        return None
    met = answers.count(MET)
    if rule == COUNT_MET:
        return met if met in grades else None
    if rule == BANDS and len(grades) > len(BANDS_FROM):
        ordered = sorted(grades)
        below, of_bands = ordered[: -len(BANDS_FROM)], ordered[-len(BANDS_FROM) :]
        band = sum(met >= fewest for fewest in BANDS_FROM)
        if band:
            return of_bands[band - 1]
        return below[0] if len(below) == 1 else None
    return None
