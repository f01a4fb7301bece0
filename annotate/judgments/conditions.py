"""Derive relevance from the verdicts on a narrative's conditions. No Django here."""

from __future__ import annotations

from collections.abc import Sequence

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
