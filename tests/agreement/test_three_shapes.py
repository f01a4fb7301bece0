from __future__ import annotations

from math import nan

import numpy as np
import pytest

from agreement import (
    Excluded,
    Ratings,
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
    percent_agreement,
)

MATRIX: list[list[float]] = [[0, 0, nan], [0, 1, 1], [2, 2, 2], [1, nan, nan]]
LONG = [
    ("q1 d9", "carla", 2),
    ("q1 d7", "ada", 0),
    ("q1 d7", "ben", 0),
    ("q1 d8", "carla", 1),
    ("q1 d8", "ada", 0),
    ("q1 d8", "ben", 1),
    ("q1 d9", "ada", 2),
    ("q1 d9", "ben", 2),
    ("q2 d7", "ada", 1),
]
COUNTS = [[2, 0, 0], [1, 2, 0], [0, 0, 3], [0, 1, 0]]

SHAPES = {
    "matrix": lambda: Ratings.from_matrix(MATRIX, categories=[0, 1, 2]),
    "long": lambda: Ratings.from_long(LONG, categories=[0, 1, 2]),
    "counts": lambda: Ratings.from_counts(COUNTS, categories=[0, 1, 2]),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("coefficient", [percent_agreement, fleiss_kappa, krippendorff_alpha])
def test_three_shapes_of_the_same_ratings_have_the_same_value(coefficient, shape):
    expected = coefficient(MATRIX, categories=[0, 1, 2], interval="bootstrap", resamples=500)

    result = coefficient(SHAPES[shape](), interval="bootstrap", resamples=500)

    assert result.value == expected.value
    assert result.interval == expected.interval
    assert (result.units, result.raters) == (3, 3)
    assert result.excluded == (Excluded("judged by one rater only", 1),)


def test_long_and_matrix_shape_have_the_same_kappa():
    long = cohen_kappa(SHAPES["long"]())
    matrix = cohen_kappa(MATRIX, categories=[0, 1, 2])

    assert long.value == pytest.approx(matrix.value, abs=1e-15)
    assert (long.pairs, long.note) == (matrix.pairs, matrix.note)


def test_counts_do_not_say_who_judged():
    ratings = SHAPES["counts"]()

    assert fleiss_kappa(ratings).pairs is None
    with pytest.raises(ValueError, match="does not say who judged"):
        cohen_kappa(ratings)
    with pytest.raises(ValueError, match="does not say who judged"):
        ratings.of([0, 1])


@pytest.mark.parametrize("missing", [None, nan])
def test_a_missing_value_in_the_long_shape_is_not_a_judgment(missing):
    rows = [*LONG, ("q2 d7", "ben", missing)]

    result = fleiss_kappa(Ratings.from_long(rows, categories=[0, 1, 2]))

    assert result.value == fleiss_kappa(SHAPES["long"]()).value


def test_categories_seen_in_the_long_shape():
    ratings = Ratings.from_long([(1, "ada", 4), (1, "ben", 9), (2, "ada", 4)], categories="seen")

    assert ratings.categories == (4, 9)


@pytest.mark.parametrize(
    "values",
    [
        [["good", "good"], ["good", "bad"], ["bad", None], ["bad", nan]],
        np.array([["good", "good"], ["good", "bad"], ["bad", None], ["bad", nan]], dtype=object),
    ],
)
def test_words_can_be_values(values):
    result = cohen_kappa(values, categories=["bad", "good"])

    # They agree on one of two shared units; by chance on 1 * 1/2.
    assert result.value == 0.0
    assert result.excluded == (Excluded("judged by one rater only", 2),)


def test_whole_numbers_and_booleans_can_be_values():
    numbers = cohen_kappa(np.array([[1, 1], [0, 0], [0, 1]]), categories=[0, 1])
    truths = cohen_kappa(
        np.array([[True, True], [False, False], [False, True]]), categories=[False, True]
    )

    assert numbers.value == truths.value == pytest.approx(0.4)


def test_masked_values_are_missing():
    masked = np.ma.MaskedArray(
        [[0, 0], [1, 1], [0, 1]], mask=[[False, False], [False, False], [False, True]]
    )

    result = cohen_kappa(masked, categories=[0, 1])

    assert (result.value, result.units) == (1.0, 2)


def test_a_long_scale_is_read_like_a_short_one():
    # From 48 categories on, values are searched for instead of compared one by one; a scale may
    # also be descending.
    rng = np.random.default_rng(5)
    values = rng.integers(0, 101, (400, 3)).astype(float)
    values[rng.random(values.shape) < 0.2] = nan

    up = cohen_kappa(values, categories=range(101), weights="linear")
    down = cohen_kappa(values, categories=range(100, -1, -1), weights="linear")
    as_objects = cohen_kappa(values.astype(object), categories=range(101), weights="linear")

    assert up.value == pytest.approx(as_objects.value, abs=1e-12)
    assert up.value == pytest.approx(down.value, abs=1e-12)


def test_patterns_that_do_not_fit_in_64_bit_codes_are_counted():
    # 40 raters on a scale of 4: 5 ** 40 codes by rater; 30 categories: 41 ** 30 by count.
    rng = np.random.default_rng(6)
    few = rng.integers(0, 4, (60, 40)).astype(float)
    many = rng.integers(0, 30, (60, 40)).astype(float)
    many[rng.random(many.shape) < 0.3] = nan

    ratings = Ratings.from_matrix(few, categories=range(4))
    counts = Ratings.from_matrix(many, categories=range(30)).counted

    assert sorted(map(tuple, ratings.judged.rows)) == sorted(map(tuple, few.astype(int)))
    by_hand = [tuple((row == k).sum() for k in range(30)) for row in many]
    assert sorted(map(tuple, np.repeat(counts.rows, counts.times, axis=0))) == sorted(by_hand)
