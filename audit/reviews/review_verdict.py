"""The verdict of an instruction's reviews: which ratings reject it, and when it has passed.

PURE: no Django.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from audit.reviews.criteria import Level


class Verdict(StrEnum):
    """The result of the reviews of one narrative version."""

    UNREVIEWED = "unreviewed"
    INCOMPLETE = "incomplete"
    PASSED = "passed"
    REJECTED = "rejected"


def verdict(
    reviews: Iterable[Iterable[Level]], wanted: int, *, by_majority: bool = False
) -> Verdict:
    """Return the verdict of submitted reviews, given their levels and the number wanted.

    A rejecting level by any auditor on any criterion rejects at once; with `by_majority`, more than
    half of the auditors must give one, each on any criterion. Passing needs every wanted review.
    """
    answers = [list(levels) for levels in reviews]
    against = sum(any(level.rejects for level in levels) for levels in answers)
    if against > (max(wanted, len(answers)) / 2 if by_majority else 0):
        return Verdict.REJECTED
    if not answers:
        return Verdict.UNREVIEWED
    return Verdict.PASSED if len(answers) >= wanted else Verdict.INCOMPLETE


def straddles(levels: Iterable[Level]) -> bool:
    """Return whether some of the auditors reject on a criterion and some do not."""
    return len({level.rejects for level in levels}) > 1
