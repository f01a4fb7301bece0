from __future__ import annotations

from collections.abc import Callable
from math import nan

import pytest

from agreement import (
    Coefficient,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    percent_agreement,
    scott_pi,
)

CHANCE_CORRECTED: list[Callable[..., Coefficient]] = [
    cohen_kappa,
    scott_pi,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
]
ALL = [percent_agreement, *CHANCE_CORRECTED]


@pytest.mark.parametrize("coefficient", CHANCE_CORRECTED)
def test_one_category_only_is_undefined(coefficient):
    result = coefficient([[1, 1], [1, 1], [1, 1]], categories=[0, 1], interval="bootstrap")

    assert result.value is None
    assert result.interval is None
    assert result.note == "undefined: only one category was used"
    assert result.units == 3


@pytest.mark.parametrize("coefficient", CHANCE_CORRECTED)
def test_a_single_shared_unit_on_which_all_agree_is_undefined(coefficient):
    result = coefficient([[2, 2], [1, nan], [nan, 0]], categories=[0, 1, 2])

    assert result.note == "undefined: only one category was used"


@pytest.mark.parametrize("coefficient", CHANCE_CORRECTED)
def test_a_scale_of_one_category_is_undefined(coefficient):
    assert coefficient([[1, 1], [1, 1]], categories=[1]).value is None


def test_one_category_only_is_full_percent_agreement():
    assert percent_agreement([[1, 1], [1, 1]], categories=[0, 1]).value == 1.0


@pytest.mark.parametrize("coefficient", ALL)
def test_no_shared_unit_is_undefined(coefficient):
    result = coefficient([[0, nan], [nan, 1], [1, nan]], categories=[0, 1], interval="bootstrap")

    assert result.value is None
    assert result.note == "undefined: no unit was judged by at least two raters"
    assert (result.units, result.raters, result.pairs) == (0, 0, 0)


@pytest.mark.parametrize("coefficient", ALL)
@pytest.mark.parametrize("ratings", [[[0], [1]], [[0, nan], [1, nan]]])
def test_one_rater_is_undefined(coefficient, ratings):
    result = coefficient(ratings, categories=[0, 1])

    assert result.note == "undefined: only one rater judged"


@pytest.mark.parametrize("coefficient", ALL)
@pytest.mark.parametrize("categories", [[0, 1], "seen"])
@pytest.mark.parametrize("ratings", [[[nan, nan]], [[None, None]]])
def test_nothing_judged_is_undefined(coefficient, categories, ratings):
    result = coefficient(ratings, categories=categories)

    assert result.note == "undefined: no unit was judged by at least two raters"


def test_one_constant_rater_is_kappa_0_and_not_undefined():
    # They agree on 3 of 4, and the same is expected by chance: 0.75 * 1 + 0.25 * 0.
    assert cohen_kappa([[1, 1], [1, 1], [1, 1], [1, 0]], categories=[0, 1]).value == 0.0


def test_two_raters_each_constant_on_another_category_is_kappa_0():
    assert cohen_kappa([[0, 1], [0, 1]], categories=[0, 1]).value == 0.0


def test_weights_that_are_0_for_all_used_categories_are_undefined():
    same_to_us = [[0, 0, 1], [0, 0, 1], [1, 1, 0]]

    result = cohen_kappa([[0, 1], [1, 0], [0, 0]], categories=[0, 1, 2], weights=same_to_us)

    assert result.note == "undefined: the weights are 0 for all categories that were used"


def test_pairs_of_raters_with_a_single_category_each_are_undefined():
    # Raters 1 and 2 share only zeros, raters 3 and 4 only ones.
    ratings = [[0, 0, nan, nan], [0, 0, nan, nan], [nan, nan, 1, 1]]

    result = cohen_kappa(ratings, categories=[0, 1])

    assert result.value is None
    assert result.note == ("undefined: no pair of raters has a value on the units that both judged")
