from __future__ import annotations

from math import nan
from typing import Any

import pytest

import measures

win_rate: Any = measures.win_rate  # tests also pass arguments that the types forbid


def test_win_rate_is_the_share_of_queries_whose_positive_scores_higher():
    scores = {"q": (0.9, 0.2), "r": (0.3, 0.4), "s": (0.8, 0.1), "t": (0.6, 0.5)}

    result = win_rate(scores)

    assert result.value == 0.75
    assert result.by_query == {"q": 1, "r": 0, "s": 1, "t": 1}


def test_win_rate_can_be_measured_at_each_number_of_conditions():
    scores = {"q": {1: (0.9, 0.1), 2: (0.5, 0.6)}, "r": {1: (0.9, 0.1), 2: (0.7, 0.6)}}

    assert [win_rate(scores, k=k).value for k in (1, 2, None)] == [1, 0.5, 0.75]
    assert win_rate(scores, k=3).reason == "undefined: no query has a comparison"


def test_the_neighbours_of_a_ladder_are_compared():
    ladder = {0: 0.1, 1: 0.2, 2: 0.15, 3: 0.4, 5: 0.3}

    # 1 beats 0 and 3 beats 2, but 2 does not beat 1; 5 has no neighbour.
    assert win_rate({"q": ladder}).value == pytest.approx(2 / 3)
    assert win_rate({"q": ladder}, k=2).value == 0


def test_each_of_several_negatives_is_one_comparison():
    assert win_rate({"q": {1: (0.5, [0.1, 0.6, 0.2, 0.3])}}).value == 0.75


def test_the_pooled_value_weighs_comparisons_and_the_other_value_queries():
    scores = {"q": {1: (1.0, 0.0), 2: (1.0, 0.0), 3: (1.0, 0.0)}, "r": {1: (0.0, 1.0)}}

    assert win_rate(scores).value == 0.75
    assert win_rate(scores, average="by_query").value == 0.5


@pytest.mark.parametrize(("ties", "value"), [("loss", 1 / 3), ("half", 0.5), ("left_out", 0.5)])
def test_a_tie_is_a_loss_half_a_win_or_left_out(ties, value):
    result = win_rate({"q": (0.5, 0.5), "r": (0.6, 0.5), "s": (0.4, 0.5)}, ties=ties)

    assert result.value == pytest.approx(value)
    assert result.warnings[0] == (
        f"1 comparisons in 1 query (q) have equal scores: {ties.replace('_', ' ')}"
    )


@pytest.mark.parametrize(("rule", "value"), [("loss", 0.5), ("left_out", 1)])
def test_a_comparison_with_nan_is_a_loss_or_left_out(rule, value):
    assert win_rate({"q": (nan, 0.5), "r": (0.6, 0.5)}, nan=rule).value == value


def test_a_perfect_model_gets_1_and_one_that_cannot_tell_or_reverses_gets_0():
    assert win_rate({"q": {k: k / 10 for k in range(11)}}).value == 1
    assert win_rate({"q": dict.fromkeys(range(11), 0.5)}).value == 0
    assert win_rate({"q": {k: -k / 10 for k in range(11)}}).value == 0


@pytest.mark.parametrize(
    "scores", [{"q": {1: (0.1,)}}, {"q": "ab"}, {"q": {1: (0.1, [])}}, {"q": 3}]
)
def test_an_invalid_pair_is_refused(scores):
    with pytest.raises(ValueError, match=r"query q: .* is not a pair; give \(score of the better"):
        win_rate(scores)


def test_pairs_and_single_scores_do_not_mix():
    with pytest.raises(ValueError, match="query q mixes pairs and single scores"):
        win_rate({"q": {1: (0.2, 0.1), 2: 0.3}})
