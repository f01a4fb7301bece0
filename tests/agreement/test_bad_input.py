from __future__ import annotations

from math import inf, nan

import pytest

from agreement import (
    Ratings,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    percent_agreement,
    scott_pi,
)

FINE = [[0, 1], [1, 1], [2, 2]]
ALL = [percent_agreement, cohen_kappa, scott_pi, fleiss_kappa, gwet_ac, krippendorff_alpha]


@pytest.mark.parametrize("coefficient", ALL)
@pytest.mark.parametrize(
    ("ratings", "categories", "sentence"),
    [
        (FINE, None, "categories is missing: give the scale in its order"),
        (FINE, [0, 1], "the value 2 is not on the scale 0, 1"),
        ([[0.5, 1], [1, 1]], [0, 1], "the value 0.5 is not on the scale 0, 1"),
        ([[inf, 1], [1, 1]], [0, 1], "the value inf is not on the scale 0, 1"),
        ([[inf, 1], [1, 1]], "seen", "inf cannot be a category"),
        ([[-1, 1], [1, 1]], range(40), "the value -1 is not on the scale 0, 1, 2, 3, 4, 5"),
        ([[-1, 1], [1, 1]], range(60), r"the value -1 is not on the scale 0, 1, .*, \.\.\., 59"),
        ([["good", "?"]], ["good", "bad"], r"the value '\?' is not on the scale good, bad"),
        ([[[0], [1]]], [0, 1], "two dimensions, units x raters; this has 3"),
        ([0, 1], [0, 1], "two dimensions, units x raters; this has 1"),
        (FINE, [], "the scale is empty"),
        (FINE, [0, 1, 1, 2], "a category occurs twice on the scale 0, 1, 1, 2"),
        (FINE, [0, 1, 2, nan], "nan cannot be a category"),
        (FINE, [0, 1, 2, None], "None cannot be a category"),
        (FINE, {0, 1, 2}, "a scale has an order"),
        (FINE, [[0], [1], [2]], "a scale is a flat list"),
        (FINE, "012", "a scale or the word"),
    ],
)
def test_ratings_and_scale(coefficient, ratings, categories, sentence):
    with pytest.raises(ValueError, match=sentence):
        coefficient(ratings, categories=categories)


@pytest.mark.parametrize("coefficient", ALL)
def test_ratings_have_one_scale(coefficient):
    ratings = Ratings.from_matrix(FINE, categories=[0, 1, 2])

    with pytest.raises(ValueError, match="have their own scale"):
        coefficient(ratings, categories=[0, 1, 2, 3])


@pytest.mark.parametrize("coefficient", ALL)
def test_unknown_interval_methods_are_refused(coefficient):
    with pytest.raises(ValueError, match="'bootstrap' or 'bca' or 'analytic', not 'jackknife'"):
        coefficient(FINE, categories=[0, 1, 2], interval="jackknife")


@pytest.mark.parametrize("coefficient", ALL)
def test_too_few_resamples(coefficient):
    with pytest.raises(ValueError, match="99 resamples are too few"):
        coefficient(FINE, categories=[0, 1, 2], interval="bootstrap", resamples=99)


def test_a_unit_judged_twice_by_one_rater():
    rows = [("d1", "ada", 0), ("d1", "ben", 0), ("d2", "ben", 0), ("d1", "ben", 0)]

    with pytest.raises(ValueError, match="the unit 'd1' was judged twice by the rater 'ben'"):
        Ratings.from_long(rows, categories=[0, 1])


def test_a_long_value_off_the_scale():
    with pytest.raises(ValueError, match="the value 7 is not on the scale 0, 1"):
        Ratings.from_long([("d1", "ada", 7)], categories=[0, 1])


@pytest.mark.parametrize(
    ("table", "categories", "sentence"),
    [
        ([[1, -1]], [0, 1], "a count of raters cannot be negative: -1"),
        ([[1, 0.5]], [0, 1], "a count of raters must be a whole number"),
        ([[1, nan]], [0, 1], "a count of raters must be a whole number"),
        ([["a", "b"]], [0, 1], "holds numbers of raters; give only numbers"),
        ([[1, 1, 1]], [0, 1], "the table has 3 columns, the scale has 2 categories"),
        ([1, 1], [0, 1], "two dimensions, units x categories; this has 1"),
        ([[1, 1]], "seen", "needs the scale"),
    ],
)
def test_counts(table, categories, sentence):
    with pytest.raises(ValueError, match=sentence):
        Ratings.from_counts(table, categories=categories)


def test_categories_seen_of_counts():
    ratings = Ratings.from_counts([[1, 1], [0, 2]], categories=[0, 1])

    with pytest.raises(ValueError, match="leave out the columns of unused categories"):
        fleiss_kappa(ratings, categories="seen")


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        ("cubic", 'weights are None, "linear", "quadratic" or a matrix, not \'cubic\''),
        ([[0, 1], [1, 0]], r"must have the shape \(3, 3\), .* these have \(2, 2\)"),
        ([0, 1, 2], r"must have the shape \(3, 3\), .* these have \(3,\)"),
        ([[0, 1, -1], [1, 0, 1], [-1, 1, 0]], "numbers of 0 or more"),
        ([[0, 1, nan], [1, 0, 1], [nan, 1, 0]], "numbers of 0 or more"),
        (
            [[1, 0.5, 0], [0.5, 1, 0.5], [0, 0.5, 1]],
            "are 0 on the diagonal; to convert weights of agree",
        ),
    ],
)
def test_weights(weights, sentence):
    with pytest.raises(ValueError, match=sentence):
        cohen_kappa(FINE, categories=[0, 1, 2], weights=weights)


def test_asymmetric_weights_for_more_than_two_raters():
    with pytest.raises(ValueError, match="weights must be symmetric if raters have no order"):
        cohen_kappa([[0, 1, 1], [1, 1, 0]], categories=[0, 1], weights=[[0, 1], [2, 0]])


def test_weights_of_words_without_an_order():
    with pytest.raises(ValueError, match="linear weights need the order of the scale"):
        cohen_kappa([["good", "bad"], ["bad", "bad"]], categories="seen", weights="linear")


@pytest.mark.parametrize(
    ("ratings", "categories", "level", "sentence"),
    [
        (FINE, [0, 1, 2], "metric", "level is one of nominal, ordinal, interval, ratio, not"),
        ([["b", "a"]], "seen", "ordinal", "ordinal alpha needs the order of the scale"),
        ([["b", "a"]], ["a", "b"], "interval", "interval alpha needs a scale of numbers"),
        ([["b", "a"]], ["a", "b"], "ratio", "ratio alpha needs a scale of numbers"),
        ([[-1, 1]], [-1, 0, 1], "ratio", "ratio alpha needs a scale of numbers of 0 or more"),
    ],
)
def test_levels(ratings, categories, level, sentence):
    with pytest.raises(ValueError, match=sentence):
        krippendorff_alpha(ratings, categories=categories, level=level)
