"""Every regular expression of the product takes time in proportion to the text it goes through."""

from __future__ import annotations

import re

import pytest

from benchmarks.patterns import PACKAGES, Case, patterns, slowest

CASES = list(patterns())
# In signs: time that grows with the square of this exceeds MOST.
SIZE = 40_000
# In seconds of the processor; below the first a measurement says nothing.
NOTICEABLE, MOST = 0.05, 1.0


def grows_with_the_square(case: Case, most: float = MOST) -> bool:
    """Whether twice the worst text takes more than three times the time, each time it is tried.

    A search that takes longer than `most` counts as one that does.
    """
    for _ in range(3):
        worst = slowest(case, size=SIZE, most=most, short=500)
        once, twice = worst["half"], worst["seconds"]
        if twice < NOTICEABLE or (twice < most and twice <= 3 * once):
            return False
    return True


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.place)
def test_a_pattern_takes_at_most_three_times_the_time_for_twice_the_text(case: Case):
    assert not grows_with_the_square(case)


def test_patterns_of_every_package_that_has_some_are_tried():
    assert len(CASES) > 100
    assert {case.place.split("/")[0] for case in CASES} <= set(PACKAGES)


def test_a_pattern_that_takes_quadratic_time_is_found():
    case = Case("here", re.compile(r"<td rowspan=\s*\s*\d"), {"search"})

    assert grows_with_the_square(case, most=0.1)
