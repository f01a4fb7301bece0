from __future__ import annotations

from math import nan

import pytest

from agreement import Ratings, by_pair, cohen_kappa

# Raters 1 and 2: kappa 1/2 (agree on 3 of 4; by chance 1/2). Raters 1 and 3: kappa 1. Raters 2 and
# 3: 1/2. Rater 4 shares one unit, only with rater 1: one category, no value.
RATINGS: list[list[float]] = [
    [0, 0, 0, nan],
    [0, 1, 0, nan],
    [1, 1, 1, nan],
    [1, 1, 1, nan],
    [1, nan, nan, 1],
]


def test_kappa_is_the_mean_over_pairs_and_says_how_many():
    result = cohen_kappa(RATINGS, categories=[0, 1])

    assert result.name == "Cohen's kappa, mean over pairs"
    assert result.value == pytest.approx((1 / 2 + 1 + 1 / 2) / 3, abs=1e-15)
    assert result.note == (
        "mean over 3 of 6 pairs of raters; 2 without a unit that both judged; "
        "1 without a value (a single category)"
    )
    assert (result.units, result.raters, result.pairs) == (5, 4, 4)


def test_the_mean_does_not_weigh_pairs_by_their_units():
    # Rater 3 judged two units only, and agreed with both others there.
    ratings: list[list[float]] = [[0, 0, 0], [0, 1, nan], [1, 1, 1], [1, 1, nan]]

    assert cohen_kappa(ratings, categories=[0, 1]).value == pytest.approx((1 / 2 + 1 + 1) / 3)


def test_two_raters_among_empty_columns_are_two_raters():
    result = cohen_kappa([[0, nan, 0], [0, nan, 1], [1, nan, 1]], categories=[0, 1])

    assert result.name == "Cohen's kappa"
    assert result.note == ""


def test_pairs_are_those_that_share_a_unit():
    ratings = Ratings.from_matrix(RATINGS, categories=[0, 1])

    units = [ratings.of(pair).units for pair in ratings.pairs or ()]

    assert ratings.pairs == ((0, 1), (0, 2), (0, 3), (1, 2))
    assert units == [4, 4, 1, 4]


def test_a_pair_has_the_value_of_its_two_columns():
    found = by_pair(RATINGS, categories=[0, 1])

    values = {(pair.first, pair.second): pair.agreement.value for pair in found}

    assert values[0, 1] == pytest.approx(1 / 2)
    assert values[0, 2] == 1.0
    assert values[0, 3] is None
