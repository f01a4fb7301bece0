from __future__ import annotations

from math import nan

import pytest

from agreement import fleiss_kappa

UNEQUAL: list[list[float]] = [[0, 0, 0], [0, 1, nan], [1, 1, nan]]


def test_with_equal_numbers_the_name_is_fleiss_kappa():
    result = fleiss_kappa([[0, 0, nan], [nan, 0, 1], [1, nan, 1]], categories=[0, 1])

    assert result.name == "Fleiss' kappa"
    assert result.method == "equal numbers of raters per unit"
    assert result.note == ""


def test_with_unequal_numbers_the_name_says_generalised():
    result = fleiss_kappa(UNEQUAL, categories=[0, 1])

    assert result.name == "Fleiss' kappa, generalised"
    assert result.method == "unequal numbers of raters per unit"
    assert result.note == (
        "2 to 3 raters per unit: Fleiss' kappa is defined for equal numbers, "
        "this is its generalisation to unequal ones"
    )


def test_every_unit_counts_the_same_for_any_number_of_raters():
    # Shares of agreeing pairs: 1, 0 and 1, mean 2/3. Shares of category 0: 1, 1/2 and 0, mean 1/2,
    # so 1/2 is expected by chance.
    assert fleiss_kappa(UNEQUAL, categories=[0, 1]).value == pytest.approx(1 / 3, abs=1e-15)


def test_a_unit_with_one_rater_changes_nothing():
    with_single = [*UNEQUAL, [0, nan, nan], [nan, 1, nan]]

    assert (
        fleiss_kappa(with_single, categories=[0, 1]).value
        == fleiss_kappa(UNEQUAL, categories=[0, 1]).value
    )


def test_a_unit_with_one_rater_does_not_make_numbers_unequal():
    ratings: list[list[float]] = [[0, 0], [0, 1], [1, nan]]

    assert fleiss_kappa(ratings, categories=[0, 1]).name == "Fleiss' kappa"
