"""Supplements to a coefficient: all pairs, single categories, prevalence and bias."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from agreement import (
    Ratings,
    bias_index,
    by_category,
    by_pair,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac,
    percent_agreement,
    prevalence_index,
)

from .found import value_of
from .published import DIAGNOSES, FEINSTEIN_BALANCED, FEINSTEIN_UNBALANCED

NAN = float("nan")
TABLE: list[list[float]] = [[0, 0, NAN], [0, 1, NAN], [1, 1, NAN], [1, 1, NAN], [NAN, NAN, 1]]


def test_all_pairs_are_listed_with_the_units_they_share():
    ratings = Ratings.from_matrix(TABLE, categories=[0, 1], raters=["ada", "ben", "carla"])

    found = by_pair(ratings)

    assert [(pair.names, pair.units) for pair in found] == [
        (("ada", "ben"), 4),
        (("ada", "carla"), 0),
        (("ben", "carla"), 0),
    ]
    assert found[0].agreement.value == cohen_kappa(np.array(TABLE)[:, :2], categories=[0, 1]).value
    assert found[1].agreement.note == "undefined: no unit was judged by at least two raters"


def test_pairs_by_another_coefficient_and_with_an_interval():
    first, *_ = by_pair(
        TABLE, categories=[0, 1], coefficient=gwet_ac, interval="bootstrap", resamples=200, seed=4
    )

    assert first.names == (0, 1)
    assert first.agreement.name == "Gwet's AC1"
    assert first.agreement.resamples == 200


def test_pairs_of_counts_are_unknown():
    with pytest.raises(ValueError, match="does not say who judged"):
        by_pair(Ratings.from_counts([[1, 1]], categories=[0, 1]))


@pytest.mark.parametrize(
    ("category", "printed"),
    # As kappam.fleiss(detail=TRUE) of R's irr prints them for the table of Fleiss (1971).
    [(1, "0.245"), (2, "0.245"), (3, "0.520"), (4, "0.471"), (5, "0.566")],
)
def test_kappa_of_a_category_is_the_one_published(category, printed):
    found = {one.category: one.kappa for one in by_category(DIAGNOSES, categories=range(1, 6))}

    assert f"{found[category].value:.3f}" == printed


def test_kappa_of_a_category_is_fleiss_kappa_of_it_and_the_rest():
    table = np.array(DIAGNOSES)

    for one in by_category(table, categories=range(1, 6), interval="bootstrap", resamples=200):
        merged = fleiss_kappa(table == one.category, categories=[False, True])
        assert one.kappa.value == pytest.approx(merged.value)
        assert one.kappa.interval is not None


@pytest.mark.parametrize(
    ("table", "negative", "positive"),
    # Feinstein and Cicchetti (1990): 2 d / (2 d + b + c) and 2 a / (2 a + b + c).
    [(FEINSTEIN_BALANCED, 90 / 105, 80 / 95), (FEINSTEIN_UNBALANCED, 10 / 25, 160 / 175)],
)
def test_specific_agreement_of_two_is_positive_and_negative_agreement(table, negative, positive):
    yes, no = by_category(table, categories=[1, 2])

    assert yes.specific.value == pytest.approx(positive)
    assert no.specific.value == pytest.approx(negative)


def test_specific_agreement_of_all_categories_makes_up_percent_agreement():
    table = np.array(DIAGNOSES)

    found = by_category(table, categories=range(1, 6))

    shares = [(table == one.category).mean() for one in found]
    total = sum(s * value_of(one.specific) for s, one in zip(shares, found, strict=True))
    assert total == pytest.approx(percent_agreement(table, categories=range(1, 6)).value)


def test_an_unused_category_is_undefined():
    *_, unused = by_category(TABLE, categories=[0, 1, 2])

    assert unused.specific.note == "undefined: the category was not used"
    assert unused.kappa.note == "undefined: the category was not used, or no other was"


@pytest.mark.parametrize(
    ("table", "prevalence", "bias"),
    [(FEINSTEIN_BALANCED, -0.05, 0.03), (FEINSTEIN_UNBALANCED, 0.75, 0.05)],
)
def test_prevalence_and_bias_explain_kappa(table, prevalence, bias):
    # Byrt, Bishop and Carlin (1993): kappa from both indices and from twice the agreement less 1.
    found = (
        prevalence_index(table, categories=[1, 2], of=1).value,
        bias_index(table, categories=[1, 2], of=1).value,
    )

    assert found == pytest.approx((prevalence, bias))
    twice = 2 * value_of(percent_agreement(table, categories=[1, 2])) - 1
    squares = prevalence**2 - bias**2
    assert cohen_kappa(table, categories=[1, 2]).value == pytest.approx(
        (twice - squares) / (1 - squares)
    )


def test_an_index_has_an_interval():
    result = prevalence_index(
        FEINSTEIN_UNBALANCED, categories=[1, 2], of=1, interval="bootstrap", seed=3
    )

    assert result.interval is not None
    assert result.interval.low < 0.75 < result.interval.high


def test_an_index_without_shared_units_is_undefined():
    result = bias_index([[1, NAN], [NAN, 1]], categories=[0, 1])

    assert result.note == "undefined: no unit was judged by at least two raters"


@pytest.mark.parametrize("index", [prevalence_index, bias_index])
@pytest.mark.parametrize(
    ("table", "options", "sentence"),
    [
        ([[0, 1, 1]], {"categories": [0, 1]}, "are defined for two raters, not 3"),
        ([[0, 1]], {"categories": [0, 1, 2]}, "of is missing: name a category"),
        ([[0, 1]], {"categories": [0, 1, 2], "of": 7}, "the category 7 is not on the scale"),
        ([[0, 1]], {"categories": [0, 1], "interval": "analytic"}, 'must be "bootstrap" or "bca"'),
    ],
)
def test_wrong_calls(index, table, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        partial(index, table)(**options)
