"""The same numbers as scikit-learn and the krippendorff package, where they define the same."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.metrics import cohen_kappa_score  # type: ignore[import-untyped]

from agreement import Ratings, alpha, cohen_kappa, krippendorff_alpha

SCALE = [0, 1, 2, 4, 8]
LEVELS = ["nominal", "ordinal", "interval", "ratio"]

pairs = hnp.arrays(
    float, st.tuples(st.integers(1, 40), st.just(2)), elements=st.sampled_from(SCALE)
)
tables = hnp.arrays(
    float,
    st.tuples(st.integers(1, 20), st.integers(2, 5)),
    elements=st.sampled_from([*SCALE, np.nan]),
)


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
@given(table=pairs)
def test_kappa_of_the_scale_is_that_of_scikit_learn(weights, table):
    assume(len(np.unique(table)) > 1)

    ours = cohen_kappa(table, categories=SCALE, weights=weights).value

    theirs = cohen_kappa_score(*table.T.astype(int), labels=SCALE, weights=weights)
    assert ours == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
@given(table=pairs)
def test_kappa_of_the_categories_seen_is_that_of_scikit_learn_without_labels(weights, table):
    assume(len(np.unique(table)) > 1)

    ours = cohen_kappa(table, categories="seen", weights=weights).value

    assert ours == pytest.approx(cohen_kappa_score(*table.T.astype(int), weights=weights), abs=1e-9)


@pytest.mark.parametrize("level", LEVELS)
@given(table=tables)
def test_alpha_is_that_of_the_krippendorff_package(level, table):
    result = krippendorff_alpha(table, categories=SCALE, level=level)
    assume(result.value is not None)

    theirs = krippendorff.alpha(
        reliability_data=table.T, value_domain=SCALE, level_of_measurement=level
    )

    assert result.value == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("level", LEVELS)
@given(table=tables)
def test_alpha_summed_over_patterns_is_that_of_the_package(level, table):
    by_package = krippendorff_alpha(table, categories=SCALE, level=level).value

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alpha, "MOST_FOR_PACKAGE", 0)
        by_patterns = krippendorff_alpha(table, categories=SCALE, level=level).value

    if by_package is None:
        assert by_patterns is None
    else:
        assert by_patterns == pytest.approx(by_package, abs=1e-9)


@pytest.mark.parametrize("level", LEVELS)
def test_alpha_of_more_units_than_the_package_is_given_is_that_of_the_package(level):
    rng = np.random.default_rng(8)
    truth = rng.integers(0, 5, 90_000)
    table = np.where(rng.random((90_000, 3)) < 0.5, truth[:, None], rng.integers(0, 5, (90_000, 3)))
    ratings = Ratings.from_matrix(table, categories=range(5))
    assert ratings.units * 5**2 > alpha.MOST_FOR_PACKAGE

    ours = krippendorff_alpha(ratings, level=level).value

    theirs = krippendorff.alpha(
        reliability_data=table.T, value_domain=range(5), level_of_measurement=level
    )
    assert ours == pytest.approx(theirs, abs=1e-9)
