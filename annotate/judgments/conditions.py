"""Derive relevance from the verdicts on a narrative's conditions. No Django here."""

from __future__ import annotations

from collections.abc import Sequence

# The values of models.Verdict.Answer and models.Project.ConditionRule.
MET, NOT_MET, CANT_TELL = "met", "not_met", "cant_tell"
BY_HAND, ALL_MET, COUNT_MET = "by_hand", "all_met", "count_met"


def derive_relevance(rule: str, answers: Sequence[str | None], grades: Sequence[int]) -> int | None:
    """Return the relevance that follows from one answer per condition (None: not answered yet),
    or None if no relevance follows.

    `all_met`: the highest grade if every condition is met, the lowest if one is not. `count_met`:
    the number of conditions met, if that is one of the grades. With the answer "can't tell" no
    relevance follows, unless another condition decides it.
    """
    if rule == ALL_MET and answers:
        if NOT_MET in answers and None not in answers:
            return min(grades)
        return max(grades) if all(answer == MET for answer in answers) else None
    if rule == COUNT_MET and answers and all(answer in {MET, NOT_MET} for answer in answers):
        met = sum(answer == MET for answer in answers)
        return met if met in grades else None
    return None
