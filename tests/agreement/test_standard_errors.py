"""Standard errors equal published ones and those of other libraries."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
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

from .published import ABSTRACTORS, KRIPPENDORFF_C, ONE_TO_3, ONE_TO_5, SAS_PRINTOUT

SCALE = [0, 1, 2, 3]


def random_table(seed: int, raters: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, (25, 1))
    drawn = rng.integers(0, 4, (25, raters))
    return np.where(rng.random((25, raters)) < 0.5, truth, drawn).astype(float)


@pytest.mark.parametrize(
    ("weights", "printed"),
    [
        # ASE in the SAS PROC FREQ printout that statsmodels keeps in its tests.
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
@pytest.mark.parametrize("seed", range(12))
def test_kappa_has_the_standard_error_of_statsmodels(seed, weights):
    # Takes a second to import, like the others below.
    from statsmodels.stats.inter_rater import cohens_kappa

    # Fleiss, Cohen and Everitt (1969) for both.
    table = random_table(seed, raters=2)
    counts = Ratings.from_matrix(table, categories=SCALE).pair_tables[0]

    ours = cohen_kappa(table, categories=SCALE, weights=weights, interval="analytic")

    theirs = cohens_kappa(counts, wt=weights)
    assert ours.value == pytest.approx(theirs.kappa, abs=1e-9)
    assert ours.standard_error == pytest.approx(np.sqrt(theirs.var_kappa), abs=1e-9)


@pytest.mark.parametrize("weights", ["identity", "linear", "quadratic"])
@pytest.mark.parametrize(("coefficient", "method"), [(gwet_ac, "gwet"), (fleiss_kappa, "fleiss")])
@pytest.mark.parametrize("seed", range(6))
def test_pooled_coefficients_have_the_standard_error_of_irrcac(seed, coefficient, method, weights):
    table = random_table(seed, raters=2 + seed % 3)
    table[0, 0] = table[1, 1] = np.nan
    table = table[(~np.isnan(table)).sum(axis=1) >= 2]
    named = None if weights == "identity" else weights

    ours = coefficient(table, categories=SCALE, weights=named, interval="analytic")

    import pandas as pd
    from irrCAC.raw import CAC

    with warnings.catch_warnings():
        # It warns about its own use of pandas.
        warnings.simplefilter("ignore")
        cac = CAC(pd.DataFrame(table), weights=weights, categories=SCALE, digits=15)
        theirs = getattr(cac, method)()["est"]
    assert ours.value == pytest.approx(theirs["coefficient_value"], abs=1e-9)
    assert ours.standard_error == pytest.approx(theirs["se"], abs=1e-9)


@pytest.mark.parametrize(
    ("coefficient", "method", "ours", "gwets"),
    [(gwet_ac, "gwet", 0.12474, 0.14295), (fleiss_kappa, "fleiss", 0.13494, 0.15302)],
)
def test_gwets_standard_error_is_larger_with_a_single_rating(coefficient, method, ours, gwets):
    found = coefficient(
        KRIPPENDORFF_C, categories=ONE_TO_5, single_ratings=True, interval="analytic"
    )

    import pandas as pd
    from irrCAC.raw import CAC

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = pd.DataFrame(np.asarray(KRIPPENDORFF_C, dtype=float))
        theirs = getattr(CAC(table, categories=list(ONE_TO_5), digits=15), method)()["est"]
    assert found.standard_error == pytest.approx(ours, abs=5e-6)
    assert theirs["se"] == pytest.approx(gwets, abs=5e-6)


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
def test_the_standard_error_equals_that_of_the_jackknife(coefficient, raters):
    # The jackknife gives the same for many units.
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 4, (400, 1))
    table = np.where(rng.random((400, raters)) < 0.7, truth, rng.integers(0, 4, (400, raters)))
    left_out = [
        coefficient(np.delete(table, at, axis=0), categories=SCALE).value for at in range(400)
    ]

    error = coefficient(table, categories=SCALE, interval="analytic").standard_error

    by_jackknife = np.sqrt(399 * np.var(left_out))
    assert error == pytest.approx(by_jackknife, rel=0.01)


def test_ac1_of_two_raters_has_the_standard_error_of_gwet_2008_except_for_n_minus_1():
    # Of 10 units, both give 0 to six and 1 to two, and they differ on two: pa = 0.8, 0.7 of all
    # ratings are 0, pe = 2 x 0.7 x 0.3 = 0.42, AC1 = 0.38 / 0.58.
    table = [[0, 0]] * 6 + [[1, 1]] * 2 + [[0, 1], [1, 0]]
    off = 1 - 0.38 / 0.58
    within = 0.6 * 0.3 + 0.2 * 0.7 - 0.8 * 0.42
    between = 0.6 * 0.3**2 + 0.2 * 0.7**2 + 0.2 * 0.5**2 - 0.42**2
    gwet_2008 = (0.8 * 0.2 - 4 * off * within + 4 * off**2 * between) / (10 * 0.58**2)

    result = gwet_ac(table, categories=[0, 1], interval="analytic")

    assert result.value == pytest.approx(0.38 / 0.58)
    assert result.standard_error == pytest.approx(np.sqrt(gwet_2008 * 10 / 9), abs=1e-9)


def test_there_is_no_standard_error_unless_an_interval_is_requested():
    assert cohen_kappa(ABSTRACTORS, categories=ONE_TO_3).standard_error is None
