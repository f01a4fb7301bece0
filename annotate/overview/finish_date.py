"""Estimate when the work left will be done at the pace of the last days. No Django here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, timedelta
from enum import StrEnum
from statistics import fmean, stdev
from typing import Annotated, Final, NamedTuple

# No day farther ahead is named.
FARTHEST = timedelta(days=3_650)
# The most days that are looked back on; so there are at most 27 degrees of freedom.
LONGEST = 28
# Student's t for an 80% interval: the 0.90 quantile for 1, 2, ... 27 degrees of freedom.
_T80: Final = (
    *(3.078, 1.886, 1.638, 1.533, 1.476, 1.440, 1.415, 1.397, 1.383),
    *(1.372, 1.363, 1.356, 1.350, 1.345, 1.341, 1.337, 1.333, 1.330),
    *(1.328, 1.325, 1.323, 1.321, 1.319, 1.318, 1.316, 1.315, 1.314),
)


class Unknown(StrEnum):
    """Why there is no estimate."""

    NOTHING_ASKED = "nothing_asked"
    NOTHING_LEFT = "nothing_left"
    NOTHING_DONE = "nothing_done"
    TOO_LITTLE = "too_little"


class Estimate(NamedTuple):
    """When the work left will be done at the pace of the last days.

    `soonest` and `latest` are None if they are farther away than FARTHEST, `latest` also if `slow`
    is zero.
    """

    left: int
    days: Annotated[int, "Days counted; today only if it has work."]
    done: Annotated[int, "Pieces of work done on these days."]
    pace: Annotated[float, "The mean per day."]
    slow: Annotated[float, "Lower bound of the 80% interval of the pace."]
    fast: Annotated[float, "Upper bound of the 80% interval of the pace."]
    soonest: date | None
    latest: date | None


def estimate(
    left: int, done: Sequence[int], today: date, *, asked: bool = True
) -> Estimate | Unknown:
    """Return when `left` pieces of work will be done.

    `done` holds the pieces done on each of the last days, oldest first, `today` last; at most
    LONGEST days. The caller leaves out the days before the first piece of work. If nothing is done
    today yet, today is ignored. An estimate needs two days with work. `asked` says whether there is
    any work at all. The end is counted from tomorrow on.
    """
    if not asked:
        return Unknown.NOTHING_ASKED
    if left <= 0:
        return Unknown.NOTHING_LEFT
    if not any(done):
        return Unknown.NOTHING_DONE
    if not done[-1]:
        done = done[:-1]
    if len(done) < 2 or sum(1 for count in done if count) < 2:
        return Unknown.TOO_LITTLE
    pace = fmean(done)
    apart = _T80[len(done) - 2] * stdev(done) / math.sqrt(len(done))
    slow, fast = max(pace - apart, 0.0), pace + apart
    return Estimate(
        left,
        len(done),
        sum(done),
        pace,
        slow,
        fast,
        _end(left, fast, today),
        _end(left, slow, today),
    )


def _end(left: int, pace: float, today: date) -> date | None:
    if pace <= 0 or left / pace > FARTHEST.days:
        return None
    # A quotient of floats can be a little more than the whole number that it should be.
    return today + timedelta(days=math.ceil(left / pace - 1e-9))
