"""Values equal those of other libraries with the same definitions."""

from __future__ import annotations

import warnings

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from agreement import (
    Ratings,
    alpha,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    percent_agreement,
    scott_pi,
)

SCALE = [0, 1, 2, 4, 8]
# Libraries that take a second or more to import are imported by the tests that use them.
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
    from sklearn.metrics import cohen_kappa_score

    assume(len(np.unique(table)) > 1)

    ours = cohen_kappa(table, categories=SCALE, weights=weights).value

    theirs = cohen_kappa_score(*table.T.astype(int), labels=SCALE, weights=weights)
    assert ours == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
@given(table=pairs)
def test_kappa_of_the_categories_seen_is_that_of_scikit_learn_without_labels(weights, table):
    from sklearn.metrics import cohen_kappa_score

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


complete_tables = hnp.arrays(
    float, st.tuples(st.integers(2, 15), st.integers(2, 5)), elements=st.sampled_from(range(4))
)
tables_with_gaps = hnp.arrays(
    float,
    st.tuples(st.integers(2, 15), st.integers(2, 5)),
    elements=st.sampled_from([0, 1, 2, 3, np.nan]),
)


@given(table=complete_tables)
def test_fleiss_kappa_is_that_of_statsmodels(table):
    from statsmodels.stats import inter_rater

    ours = fleiss_kappa(table, categories=range(4)).value
    assume(ours is not None)

    counts, _ = inter_rater.aggregate_raters(table.astype(int), n_cat=4)

    assert ours == pytest.approx(inter_rater.fleiss_kappa(counts), abs=1e-9)


def irrcac(table: np.ndarray, method: str, weights: str = "identity") -> dict[str, float]:
    import pandas as pd
    from irrCAC.raw import CAC

    with warnings.catch_warnings():
        # It warns about its own use of pandas.
        warnings.simplefilter("ignore")
        cac = CAC(pd.DataFrame(table), weights=weights, categories=list(range(4)), digits=15)
        found: dict[str, float] = getattr(cac, method)()["est"]
    return found


@pytest.mark.parametrize("weights", ["identity", "linear", "quadratic"])
@pytest.mark.parametrize(("ours", "method"), [(gwet_ac, "gwet"), (fleiss_kappa, "fleiss")])
@given(table=tables_with_gaps)
@settings(max_examples=30)
def test_pooled_coefficients_are_those_of_irrcac_with_missing_ratings(ours, method, weights, table):
    # irrCAC includes single ratings in the shares, and fails on units without ratings.
    table = table[~np.isnan(table).all(axis=1)]
    named = None if weights == "identity" else weights
    result = ours(table, categories=range(4), weights=named, single_ratings=True)
    assume(result.value is not None)
    # With a single unit it divides by 0.
    assume(len(table) > 1)

    theirs = irrcac(table, method, weights)["coefficient_value"]

    assert result.value == pytest.approx(theirs, abs=1e-9)


@given(table=complete_tables)
@settings(max_examples=30)
def test_pi_of_two_and_percent_agreement_are_those_of_irrcac(table):
    two = table[:, :2]
    ours = scott_pi(two, categories=range(4)).value
    assume(ours is not None)

    theirs = irrcac(two, "fleiss")

    assert ours == pytest.approx(theirs["coefficient_value"], abs=1e-9)
    assert percent_agreement(two, categories=range(4)).value == pytest.approx(
        theirs["pa"], abs=1e-9
    )


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_the_mean_over_pairs_is_that_of_scikit_learn(weights):
    from sklearn.metrics import cohen_kappa_score

    rng = np.random.default_rng(3)
    table = rng.integers(0, 4, (60, 4)).astype(float)
    table[rng.random(table.shape) < 0.2] = np.nan
    theirs = []
    for first in range(4):
        for second in range(first + 1, 4):
            two = table[:, [first, second]]
            two = two[~np.isnan(two).any(axis=1)].astype(int)
            theirs.append(cohen_kappa_score(*two.T, labels=range(4), weights=weights))

    ours = cohen_kappa(table, categories=range(4), weights=weights).value

    assert ours == pytest.approx(np.mean(theirs), abs=1e-9)
