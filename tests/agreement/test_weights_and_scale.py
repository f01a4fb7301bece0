from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from agreement import Ratings, cohen_kappa, fleiss_kappa, krippendorff_alpha

# Categories 0, 1 and 3 of a scale 0 to 3. Of four units they agree on two and are off by one step
# (0, 1) and by two steps (1, 3); on the scale of the values seen, by one step each.
GAP: list[list[float]] = [[0, 0], [3, 3], [0, 1], [1, 3]]


@pytest.mark.parametrize(
    ("categories", "weights", "expected"),
    [
        # First: 0 0 1 3, second: 0 1 3 3. All 16 pairings on the scale: distances
        # 0 1 3 3 / 0 1 3 3 / 1 0 2 2 / 3 2 0 0, sum 24; observed 1 + 2 of 4 units.
        ([0, 1, 2, 3], "linear", 1 - (3 / 4) / (24 / 16)),
        ([0, 1, 2, 3], "quadratic", 1 - (5 / 4) / (60 / 16)),
        # On the scale of the values seen, 3 is one step from 1:
        # 0 1 2 2 / 0 1 2 2 / 1 0 1 1 / 2 1 0 0, sum 16.
        ("seen", "linear", 1 - (2 / 4) / (16 / 16)),
        ("seen", "quadratic", 1 - (2 / 4) / (26 / 16)),
        ([0, 1, 2, 3], None, 1 - (2 / 4) / (11 / 16)),
        ("seen", None, 1 - (2 / 4) / (11 / 16)),
    ],
)
def test_an_unused_category_between_used_ones_matters_to_weights_only(
    categories, weights, expected
):
    value = cohen_kappa(GAP, categories=categories, weights=weights).value

    assert value == pytest.approx(expected, abs=1e-12)


def test_an_unused_category_still_belongs_to_the_scale():
    assert cohen_kappa(GAP, categories=[0, 1, 2, 3]).categories == (0, 1, 2, 3)
    assert cohen_kappa(GAP, categories="seen").categories == (0, 1, 3)


def test_a_category_used_only_in_single_ratings_is_not_seen():
    ratings: list[list[float]] = [*GAP, [2, np.nan]]

    result = cohen_kappa(ratings, categories="seen", weights="linear")

    assert result.categories == (0, 1, 3)
    assert result.value == cohen_kappa(GAP, categories="seen", weights="linear").value
    assert [(e.reason, e.units) for e in result.excluded] == [("judged by one rater only", 1)]


@pytest.mark.parametrize(
    "coefficient",
    [
        fleiss_kappa,
        krippendorff_alpha,
        partial(krippendorff_alpha, level="ordinal"),
        partial(krippendorff_alpha, level="interval"),
        partial(krippendorff_alpha, level="ratio"),
    ],
)
def test_seen_and_scale_give_the_same_coefficients_of_counts(coefficient):
    assert coefficient(GAP, categories="seen").value == coefficient(GAP, categories=range(4)).value


def test_linear_weights_count_steps_on_the_scale_instead_of_differences():
    gains = [[0, 0], [16, 16], [0, 2], [2, 16]]
    steps = [[0, 0], [2, 2], [0, 1], [1, 2]]

    assert (
        cohen_kappa(gains, categories=[0, 2, 16], weights="linear").value
        == cohen_kappa(steps, categories=[0, 1, 2], weights="linear").value
    )


def test_interval_alpha_takes_differences():
    # Differences 0 0 2 14. Coincidences of 0 2 16: sum of squared differences over ordered pairs
    # 2 * (4 + 196) = 400; all 8 values 0 0 0 2 2 16 16 16: 2 * (6 * 4 + 9 * 256 + 6 * 196).
    value = krippendorff_alpha(
        [[0, 0], [16, 16], [0, 2], [2, 16]], categories=[0, 2, 16], level="interval"
    ).value

    assert value == pytest.approx(1 - (7 * 400) / (2 * (24 + 2304 + 1176)), abs=1e-12)


@pytest.mark.parametrize(("weights", "power"), [("linear", 1), ("quadratic", 2)])
def test_custom_weights_equal_the_named_weights(weights, power):
    own = np.abs(np.subtract.outer(range(4), range(4))) ** power / 7

    assert cohen_kappa(GAP, categories=range(4), weights=own).value == pytest.approx(
        cohen_kappa(GAP, categories=range(4), weights=weights).value, abs=1e-15
    )


def test_the_order_of_the_scale_is_the_order_given():
    words = [["no", "no"], ["yes", "yes"], ["perhaps", "no"], ["no", "yes"]]

    in_order = cohen_kappa(words, categories=["no", "perhaps", "yes"], weights="linear")
    out_of_order = cohen_kappa(words, categories=["perhaps", "no", "yes"], weights="linear")

    # By hand over the 16 pairings: 1 - (3/4) / (16/16) and 1 - (2/4) / (12/16).
    assert in_order.value == pytest.approx(1 / 4)
    assert out_of_order.value == pytest.approx(1 / 3)


def test_ratings_keep_their_scale():
    ratings = Ratings.from_matrix(GAP, categories=[0, 1, 2, 3])

    assert cohen_kappa(ratings, weights="linear").value == pytest.approx(1 / 2)
    assert cohen_kappa(ratings, categories="seen").categories == (0, 1, 3)
