"""interval="auto" is BCa if one category has 85% or more of the ratings, else percentiles."""

from __future__ import annotations

import numpy as np
import pytest

from agreement import Ratings, cohen_kappa, compare, fleiss_kappa, gwet_ac, percent_agreement
from agreement.estimate import is_skewed

# Of 100 units: 92, 5 and 3% of the ratings, and a third each.
SKEWED = [[0, 0]] * 90 + [[1, 1]] * 4 + [[2, 2]] * 2 + [[0, 1]] * 2 + [[2, 0]] * 2
EVEN = [[0, 0]] * 30 + [[1, 1]] * 30 + [[2, 2]] * 30 + [[0, 1]] * 5 + [[1, 2]] * 5
SCALE = [0, 1, 2]


def of_zeros(ratings: int) -> list[list[int]]:
    """Return 100 units by two raters with `ratings` zeros, who differ once."""
    both = (ratings - 1) // 2
    return [[0, 0]] * both + [[0, 1]] + [[1, 1]] * (99 - both)


@pytest.mark.parametrize("coefficient", [cohen_kappa, fleiss_kappa, gwet_ac, percent_agreement])
@pytest.mark.parametrize(("table", "method"), [(SKEWED, "bca"), (EVEN, "bootstrap")])
def test_the_interval_equals_that_of_the_chosen_method(coefficient, table, method):
    auto = coefficient(table, categories=SCALE, interval="auto", seed=3, resamples=500)

    named = coefficient(table, categories=SCALE, interval=method, seed=3, resamples=500)
    assert (auto.interval, auto.interval_note) == (named.interval, named.interval_note)
    assert (auto.seed, auto.resamples) == (3, 500)


def test_the_note_names_the_method():
    notes = [
        cohen_kappa(table, categories=SCALE, interval="auto", resamples=500).interval_note
        for table in (SKEWED, EVEN)
    ]

    assert notes == [
        "95% BCa bootstrap over units, 500 resamples, seed 0",
        "95% expanded percentile bootstrap over units, 500 resamples, seed 0",
    ]


@pytest.mark.parametrize(("zeros", "skewed"), [(169, False), (171, True), (31, False), (29, True)])
def test_skewed_begins_at_85_percent_of_all_ratings(zeros, skewed):
    # 85% of 200 ratings are 170, which may be in either category.
    assert is_skewed(Ratings.from_matrix(of_zeros(zeros), categories=[0, 1])) is skewed


def test_single_ratings_of_a_unit_do_not_make_a_table_skewed():
    nan = float("nan")
    table = np.vstack([EVEN, [[0, nan]] * 1_000])

    assert not is_skewed(Ratings.from_matrix(table, categories=SCALE))


def test_ratings_without_a_shared_unit_are_not_skewed():
    assert not is_skewed(Ratings.from_matrix([[0, float("nan")]], categories=SCALE))


@pytest.mark.parametrize(("first", "second"), [(SKEWED, EVEN), (EVEN, SKEWED)])
def test_a_difference_uses_bca_if_either_is_skewed(first, second):
    found = compare(
        first,
        second,
        coefficient=cohen_kappa,
        categories=SCALE,
        interval="auto",
        resamples=500,
    )

    for one in (found, found.first, found.second):
        assert one.interval_note.startswith("95% BCa bootstrap")
