from __future__ import annotations

from math import sqrt
from typing import Any

import pytest

import measures

from .rankings import three_modes

m_wise: Any = measures.m_wise  # tests also pass arguments that the types forbid


def measured(original, instructed, reverse, satisfied=2, conditions=4, **options):
    return m_wise(
        **three_modes(original, instructed, reverse),
        gold={"q": "g"},
        satisfied={"q": satisfied},
        conditions={"q": conditions},
        **options,
    ).value


@pytest.mark.parametrize(
    ("original", "instructed", "reverse", "value"),
    [
        (5, 1, 6, 2 / 4 * (1 - sqrt(4 / 10))),
        (5, 4, 6, 2 / 4 * (1 - sqrt(1 / 10)) / 2),
        (1, 1, 2, 1),
        (11, 1, 12, 2 / 4 * 0.01),
        (5, 10, 2, 2 / 4 * -1),
        (5, 10, 7, 2 / 4 * -1 / 2),
        (5, 2, 4, 2 / 4 * -1 / 5),
        (5, 5, 5, 0),
    ],
)
def test_rewards_are_weighted_by_satisfied_and_penalties_by_violated_conditions(
    original, instructed, reverse, value
):
    assert measured(original, instructed, reverse) == pytest.approx(value, abs=1e-12)


def test_the_notebook_reduces_no_reward_and_gives_no_penalty():
    assert measured(5, 1, 6, variant="notebook") == pytest.approx(1 - sqrt(4 / 10))
    assert str(measured(5, 10, 2, variant="notebook")) == "0.0"


def test_satisfied_and_violated_may_leave_conditions_open():
    runs = {**three_modes(5, 10, 2), "gold": {"q": "g"}, "satisfied": {"q": 1}}

    assert m_wise(**runs, violated={"q": 3}).value == -3 / 4
    assert m_wise(**runs, violated={"q": 1}, conditions={"q": 4}).value == -1 / 4


@pytest.mark.parametrize(
    ("counts", "sentence"),
    [
        ({}, "give violated or conditions"),
        (
            {"conditions": {"q": 0}},
            "query q: 1 satisfied and -1 violated of 0 conditions do not fit",
        ),
        ({"violated": {"r": 1}}, "violated has no number for query q"),
        ({"violated": {"q": -1}}, "violated of query q is -1; give 0 or more"),
    ],
)
def test_counts_that_do_not_fit_are_refused(counts, sentence):
    with pytest.raises(ValueError, match=sentence):
        m_wise(**three_modes(5, 1, 6), gold={"q": "g"}, satisfied={"q": 1}, **counts)
