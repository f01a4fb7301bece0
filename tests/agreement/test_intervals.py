"""Other intervals than percentiles: BCa, analytic, over clusters, with very many patterns."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from agreement import (
    Coefficient,
    Ratings,
    bootstrap,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    percent_agreement,
)
from agreement.student_t import quantile

from .found import error_of, interval_of, value_of

SCALE = [0, 1, 2]
COEFFICIENTS: list[Callable[..., Coefficient]] = [
    percent_agreement,
    partial(cohen_kappa, weights="linear"),
    fleiss_kappa,
    gwet_ac,
    partial(krippendorff_alpha, level="ordinal"),
]


def ratings(units: int, raters: int = 3, categories: int = 3, knowing: float = 0.6) -> np.ndarray:
    rng = np.random.default_rng(9)
    truth = rng.integers(0, categories, (units, 1))
    drawn = rng.integers(0, categories, (units, raters))
    table = np.where(rng.random((units, raters)) < knowing, truth, drawn).astype(float)
    table[rng.random(table.shape) < 0.1] = np.nan
    return table


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_the_bca_interval_equals_that_of_scipy(coefficient):
    from scipy import stats  # takes a second

    # scipy computes the acceleration by leaving out units, agreement by linearisation; and
    # agreement widens the tails a little.
    table = ratings(150)
    table = table[(~np.isnan(table)).sum(axis=1) >= 2]
    theirs = stats.bootstrap(
        (np.arange(len(table)),),
        lambda units: coefficient(table[units], categories=SCALE).value,
        method="BCa",
        n_resamples=2_000,
        vectorized=False,
        rng=np.random.default_rng(1),
    ).confidence_interval

    ours = coefficient(table, categories=SCALE, interval="bca", resamples=20_000).interval

    assert ours.low == pytest.approx(theirs.low, abs=0.015)
    assert ours.high == pytest.approx(theirs.high, abs=0.015)


def test_percentiles_of_few_units_are_widened():
    from scipy import stats

    # Hesterberg (2015): with 20 units, the normal share of t(0.975, 19) sqrt(20 / 19) on each side.
    tail = bootstrap._widened_tail(20)

    assert tail == pytest.approx(stats.norm.cdf(-stats.t.ppf(0.975, 19) * math.sqrt(20 / 19)))
    assert tail < 0.017 < 0.025


def test_the_analytic_interval_is_a_t_interval_on_the_logarithm_of_disagreement():
    from scipy import stats

    result = cohen_kappa(
        [[0, 0]] * 45 + [[0, 1]] * 10 + [[1, 1]] * 45, categories=[0, 1], interval="analytic"
    )

    apart = 1 - value_of(result)
    reach = stats.t.ppf(0.975, 99) * error_of(result) / apart
    assert result.interval == pytest.approx(
        (1 - apart * math.exp(reach), 1 - apart * math.exp(-reach))
    )
    assert result.interval_note == (
        "95% interval from the linearised variance over units, t on log(1 - value)"
    )
    assert (result.seed, result.resamples) == (None, None)


def test_the_analytic_interval_of_perfect_agreement_notes_zero_variance():
    result = fleiss_kappa([[0, 0]] * 9 + [[1, 1]] * 9, categories=[0, 1], interval="analytic")

    assert result.interval == (1.0, 1.0)
    assert result.interval_note.endswith("the interval cannot show the uncertainty")


@pytest.mark.parametrize("method", ["bootstrap", "bca", "analytic"])
@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_clusters_of_one_unit_each_equal_units(coefficient, method):
    table = ratings(80)
    table = table[(~np.isnan(table)).sum(axis=1) >= 2]
    how = {"interval": method, "resamples": 4_000}

    units = coefficient(table, categories=SCALE, **how)
    clusters = coefficient(table, categories=SCALE, clusters=np.arange(len(table)), **how)

    assert clusters.value == pytest.approx(units.value, abs=1e-12)
    assert clusters.interval.low == pytest.approx(units.interval.low, abs=0.02)
    assert clusters.interval.high == pytest.approx(units.interval.high, abs=0.02)


@pytest.mark.parametrize("method", ["bootstrap", "bca", "analytic"])
def test_repeated_units_in_a_cluster_count_as_one(method):
    # Each unit is ten times in its cluster: the interval is that of the units taken once.
    table = ratings(60)
    table = table[(~np.isnan(table)).sum(axis=1) >= 2]
    how = {"interval": method, "resamples": 4_000}

    once = interval_of(fleiss_kappa(table, categories=SCALE, **how))
    repeated = interval_of(
        fleiss_kappa(
            np.repeat(table, 10, axis=0),
            categories=SCALE,
            clusters=np.repeat(np.arange(len(table)), 10),
            **how,
        )
    )

    assert repeated.low == pytest.approx(once.low, abs=0.02)
    assert repeated.high == pytest.approx(once.high, abs=0.02)


def test_resampling_clusters_equals_a_loop_over_clusters():
    table, clusters = ratings(120), np.arange(120) // 6
    rng = np.random.default_rng(2)
    parts = [table[clusters == one] for one in range(20)]
    loop = [
        fleiss_kappa(np.vstack([parts[at] for at in rng.integers(0, 20, 20)]), categories=SCALE)
        for _ in range(2_000)
    ]
    tail = 100 * bootstrap._widened_tail(20)
    low, high = np.percentile([one.value for one in loop], [tail, 100 - tail])

    result = fleiss_kappa(table, categories=SCALE, clusters=clusters, interval="bootstrap")

    assert result.interval == pytest.approx((low, high), abs=0.015)
    assert result.interval_note == (
        "95% expanded percentile bootstrap over 20 clusters, 10,000 resamples, seed 0"
    )


def test_one_cluster_has_no_interval():
    result = fleiss_kappa(
        [[0, 0], [0, 1], [1, 1]], categories=[0, 1], clusters=["q", "q", "q"], interval="bootstrap"
    )

    assert result.value is not None
    assert result.interval is None
    assert result.interval_note == "no interval: resampling needs at least two clusters"


@pytest.mark.parametrize(
    "coefficient",
    [cohen_kappa, partial(cohen_kappa, weights="quadratic"), fleiss_kappa, krippendorff_alpha],
)
def test_sums_from_their_normal_limit_give_the_same_interval(coefficient, monkeypatch):
    table = ratings(3_000, raters=4)
    counted = coefficient(table, categories=SCALE, interval="bootstrap").interval

    monkeypatch.setattr(bootstrap, "MOST_PATTERNS", 3)
    limit = coefficient(table, categories=SCALE, interval="bootstrap")

    assert limit.interval == pytest.approx(counted, abs=0.002)
    assert "patterns drawn from their normal limit" in limit.interval_note


def test_pairs_of_five_raters_on_five_categories_are_resampled_at_once():
    # 7,776 patterns are possible: too many to count again for every resample.
    table = ratings(100_000, raters=5, categories=5)

    result = cohen_kappa(table, categories=range(5), interval="bootstrap", resamples=10_000)

    assert "patterns drawn from their normal limit" in result.interval_note
    low, high = interval_of(result)
    assert low < value_of(result) < high
    assert high - low < 0.01


def test_the_cost_of_resampling_does_not_grow_with_the_units(monkeypatch):
    rows: list[int] = []
    original = bootstrap.Resampler.resample

    def watched(drawn, resamples, rng):
        rows.append(len(drawn.times))
        return original(drawn, resamples, rng)

    monkeypatch.setattr(bootstrap.Resampler, "resample", watched)
    table = ratings(300)

    for often in (1, 100):
        fleiss_kappa(np.tile(table, (often, 1)), categories=SCALE, interval="bootstrap")

    assert rows[0] == rows[1] <= 16


@pytest.mark.parametrize("degrees", [1, 2, 3, 7, 30, 99, 2_000, 999_999])
@pytest.mark.parametrize("share", [0.9, 0.975, 0.995])
def test_quantiles_of_t_equal_those_of_scipy(share, degrees):
    from scipy import stats

    assert quantile(share, degrees) == pytest.approx(stats.t.ppf(share, degrees), rel=1e-8)


def test_quantiles_of_t_with_very_many_degrees_are_normal():
    from scipy import stats

    assert quantile(0.975, 5_000_000) == pytest.approx(stats.norm.ppf(0.975))


@pytest.mark.parametrize(("share", "degrees"), [(0.2, 5), (1.0, 5), (0.975, 0)])
def test_invalid_quantiles_are_refused(share, degrees):
    with pytest.raises(ValueError, match="no quantile of t"):
        quantile(share, degrees)


def test_units_with_one_rating_can_count_in_the_shares():
    table: list[list[float]] = [[0, 0], [0, 1], [1, 1], [1, np.nan], [1, np.nan]]

    without = gwet_ac(table, categories=[0, 1])
    with_them = gwet_ac(table, categories=[0, 1], single_ratings=True, interval="bootstrap")

    # p_a is 2/3; the share of 0 is 1/2 without and 3/10 with the two single ratings.
    assert without.value == pytest.approx((2 / 3 - 1 / 2) / (1 / 2))
    assert with_them.value == pytest.approx((2 / 3 - 0.42) / 0.58)
    assert (
        with_them.note == "2 units with a single rating count in the shares of the categories only"
    )
    assert with_them.units == 3
    assert with_them.interval is not None


def test_ratings_have_the_number_of_units_each_pair_shares():
    table: list[list[float]] = [[0, 0, np.nan], [1, 1, 1]]

    shared = Ratings.from_matrix(table, categories=SCALE).in_common

    assert shared is not None
    assert shared.tolist() == [[2, 2, 1], [2, 2, 1], [1, 1, 1]]
