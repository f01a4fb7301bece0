"""Standard errors: those that were published, and those of other libraries."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from irrCAC.raw import CAC
from statsmodels.stats.inter_rater import cohens_kappa

from agreement import (
    Ratings,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    percent_agreement,
    scott_pi,
)

from .published import ABSTRACTORS, ONE_TO_3, SAS_PRINTOUT

SCALE = [0, 1, 2, 3]
tables = hnp.arrays(
    float, st.tuples(st.integers(4, 15), st.integers(2, 4)), elements=st.sampled_from(SCALE)
)


@pytest.mark.parametrize(
    ("weights", "printed"),
    [
        # ASE of the SAS PROC FREQ printout that statsmodels keeps in its tests.
        (None, "0.1380"),
        ("linear", "0.1457"),
    ],
)
def test_kappa_has_the_standard_error_that_sas_prints(weights, printed):
    result = cohen_kappa(SAS_PRINTOUT, categories=ONE_TO_3, weights=weights, interval="analytic")

    assert f"{result.standard_error:.4f}" == printed


@pytest.mark.parametrize(
    ("coefficient", "printed"),
    # The overview of R's irrCAC, on its table of 100 patients by two abstractors.
    [(cohen_kappa, "0.05891072"), (scott_pi, "0.05905473")],
)
def test_two_raters_have_the_standard_error_that_irrcac_prints(coefficient, printed):
    result = coefficient(ABSTRACTORS, categories=ONE_TO_3, interval="analytic")

    assert f"{result.standard_error:.8f}" == printed


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
@given(table=tables)
@settings(max_examples=40)
def test_kappa_has_the_standard_error_of_statsmodels(weights, table):
    # Fleiss, Cohen and Everitt (1969) for both.
    counts = Ratings.from_matrix(table[:, :2], categories=SCALE).pair_table(0, 1)
    ours = cohen_kappa(table[:, :2], categories=SCALE, weights=weights, interval="analytic")
    assume(ours.value is not None)
    assume(ours.value < 1)

    theirs = cohens_kappa(counts, wt=weights)

    assert ours.value == pytest.approx(theirs.kappa, abs=1e-9)
    assert ours.standard_error == pytest.approx(np.sqrt(theirs.var_kappa), abs=1e-9)


@pytest.mark.parametrize("weights", ["identity", "linear", "quadratic"])
@pytest.mark.parametrize(("ours", "theirs"), [(gwet_ac, "gwet"), (fleiss_kappa, "fleiss")])
@given(table=tables)
@settings(max_examples=40)
def test_pooled_coefficients_have_the_standard_error_of_irrcac(ours, theirs, weights, table):
    result = ours(
        table,
        categories=SCALE,
        weights=None if weights == "identity" else weights,
        interval="analytic",
    )
    assume(result.value is not None)
    assume(result.value < 1)

    with warnings.catch_warnings():
        # It warns of how it calls pandas.
        warnings.simplefilter("ignore")
        cac = CAC(pd.DataFrame(table), weights=weights, categories=SCALE, digits=15)
        estimated = getattr(cac, theirs)()["est"]

    assert result.value == pytest.approx(estimated["coefficient_value"], abs=1e-9)
    assert result.standard_error == pytest.approx(estimated["se"], abs=1e-9)


@pytest.mark.parametrize(
    "coefficient",
    [
        percent_agreement,
        partial(cohen_kappa, weights="linear"),
        scott_pi,
        fleiss_kappa,
        partial(gwet_ac, weights="quadratic"),
        partial(krippendorff_alpha, level="nominal"),
        partial(krippendorff_alpha, level="ordinal"),
        partial(krippendorff_alpha, level="interval"),
    ],
)
@pytest.mark.parametrize("raters", [2, 4])
def test_the_standard_error_is_that_of_leaving_out_one_unit_at_a_time(coefficient, raters):
    # The jackknife, by which both come to the same for many units.
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 4, (400, 1))
    table = np.where(rng.random((400, raters)) < 0.7, truth, rng.integers(0, 4, (400, raters)))
    left_out = [
        coefficient(np.delete(table, at, axis=0), categories=SCALE).value for at in range(400)
    ]

    error = coefficient(table, categories=SCALE, interval="analytic").standard_error

    by_jackknife = np.sqrt(399 * np.var(left_out))
    assert error == pytest.approx(by_jackknife, rel=0.01)


def test_there_is_none_unless_an_interval_is_asked_for():
    assert cohen_kappa(ABSTRACTORS, categories=ONE_TO_3).standard_error is None
