"""The difference of two agreements and its interval."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from agreement import (
    Ratings,
    bootstrap,
    cohen_kappa,
    compare,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    percent_agreement,
)

from .found import error_of, interval_of, value_of
from .test_bootstrap import team

SCALE = [0, 1, 2]
ALL = [percent_agreement, cohen_kappa, fleiss_kappa, gwet_ac, krippendorff_alpha]


def two_tables(units: int = 200, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Return ratings of the same units by raters who know 60% and 80% of the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, (units, 1))
    before, after = (
        np.where(rng.random((units, 2)) < knowing, truth, rng.integers(0, 3, (units, 2)))
        for knowing in (0.6, 0.8)
    )
    return before.astype(float), after.astype(float)


@pytest.mark.parametrize("method", ["bootstrap", "bca", "analytic"])
@pytest.mark.parametrize("coefficient", ALL)
def test_the_difference_is_the_first_minus_the_second(coefficient, method):
    before, after = two_tables()

    found = compare(
        after, before, coefficient=coefficient, categories=SCALE, interval=method, resamples=500
    )

    values = [coefficient(table, categories=SCALE).value for table in (after, before)]
    assert found.value == pytest.approx(values[0] - values[1])
    assert (found.first.value, found.second.value) == pytest.approx(tuple(values))
    low, high = interval_of(found)
    assert low < value_of(found) < high
    assert found.paired == 0


@pytest.mark.parametrize("coefficient", ALL)
def test_paired_units_with_the_same_ratings_do_not_differ(coefficient):
    before, _ = two_tables()
    units = [f"d{at}" for at in range(len(before))]
    one, other = (Ratings.from_matrix(before, categories=SCALE, units=units) for _ in range(2))

    found = compare(one, other, coefficient=coefficient)

    assert value_of(found) == 0
    assert interval_of(found) == (0, 0)
    assert found.paired == 200


def test_pairing_equals_a_loop_over_shared_units():
    before, after = two_tables(100)
    rng = np.random.default_rng(8)
    loop = []
    for _ in range(2_000):
        drawn = rng.integers(0, 100, 100)
        one, other = (
            value_of(cohen_kappa(table[drawn], categories=SCALE)) for table in (after, before)
        )
        loop.append(one - other)

    found = compare(
        after, before, coefficient=cohen_kappa, categories=SCALE, units=(range(100), range(100))
    )

    assert found.interval == pytest.approx(tuple(np.percentile(loop, [2.35, 97.65])), abs=0.02)
    assert found.interval_note.startswith(
        "95% expanded percentile bootstrap over units, 10,000 resamples"
    )


def test_the_order_of_shared_units_does_not_matter():
    before, after = two_tables(60)
    order = np.random.default_rng(1).permutation(60)
    in_order = compare(
        after, before, coefficient=fleiss_kappa, categories=SCALE, units=(range(60), range(60))
    )

    shuffled = compare(
        after,
        before[order],
        coefficient=fleiss_kappa,
        categories=SCALE,
        units=(range(60), order.tolist()),
    )

    assert shuffled.interval == pytest.approx(in_order.interval, abs=1e-12)
    assert shuffled.paired == 60


def test_ratings_in_the_long_shape_know_their_units():
    rows = [("d1", "ada", 0), ("d1", "ben", 0), ("d2", "ada", 1), ("d2", "ben", 0)]
    more = [("d2", "ada", 1), ("d2", "ben", 1), ("d3", "ada", 0), ("d3", "ben", 0)]

    found = compare(
        Ratings.from_long(more, categories=SCALE),
        Ratings.from_long(rows, categories=SCALE),
        coefficient=percent_agreement,
        interval=None,
    )

    assert found.value == 0.5
    assert found.paired == 1
    assert (found.interval, found.interval_note) == (None, "")


def test_units_that_are_not_shared_are_drawn_separately():
    # The variances of independent agreements add up.
    before, after = two_tables()

    found = compare(
        after, before[:120], coefficient=fleiss_kappa, categories=SCALE, interval="analytic"
    )

    apart = np.hypot(error_of(found.first), error_of(found.second))
    assert found.standard_error == pytest.approx(apart)
    assert found.interval_note == "95% t interval from the linearised variance over units"


def test_clusters_with_units_in_both_are_drawn_together():
    before, after = two_tables(200)
    queries = np.arange(200) // 10
    one, other = (
        Ratings.from_matrix(table, categories=SCALE, clusters=queries) for table in (before, before)
    )

    same = compare(one, other, coefficient=cohen_kappa, resamples=500)
    changed = compare(
        Ratings.from_matrix(after, categories=SCALE, clusters=queries),
        other,
        coefficient=cohen_kappa,
        resamples=500,
    )

    assert same.interval == pytest.approx((0, 0), abs=1e-12)
    assert "over 20 clusters" in changed.interval_note
    low, high = interval_of(changed)
    assert low < value_of(changed) < high


def test_two_tables_of_counts():
    first = Ratings.from_counts([[2, 0], [0, 2], [1, 1]], categories=[0, 1], times=[40, 40, 20])
    second = Ratings.from_counts([[2, 0], [0, 2], [1, 1]], categories=[0, 1], times=[20, 20, 60])

    found = compare(first, second, coefficient=percent_agreement)

    assert found.value == pytest.approx(0.4)
    assert interval_of(found).low > 0


def test_an_undefined_agreement_has_no_difference():
    found = compare([[0, 0], [1, 1]], [[0, 0]], coefficient=cohen_kappa, categories=[0, 1])

    assert found.value is None
    assert found.note == "undefined: the second agreement is undefined"
    assert found.interval is None


def test_one_unit_has_no_interval():
    found = compare([[0, 1]], [[1, 0]], coefficient=percent_agreement, categories=[0, 1])

    assert found.value == 0
    assert found.interval_note == "no interval: each agreement needs at least two units"


def test_units_are_one_name_per_row():
    with pytest.raises(ValueError, match="units are one name per row: 2 different names"):
        compare(
            [[0, 1], [1, 1]],
            [[0, 1], [1, 1]],
            coefficient=percent_agreement,
            categories=[0, 1],
            units=(["d1", "d2"], ["d1", "d1"]),
        )


def test_rows_that_stand_for_several_units_are_not_paired():
    counted = Ratings.from_matrix(
        [[0, 1], [1, 1]], categories=[0, 1], times=[3, 4], units=["d1", "d2"]
    )

    with pytest.raises(ValueError, match="paired units need one row each"):
        compare(counted, counted, coefficient=percent_agreement)


def test_other_functions_are_not_compared():
    def half(ratings, **_):
        return cohen_kappa(ratings)

    with pytest.raises(ValueError, match="only coefficients of this package"):
        compare([[0, 1]], [[0, 1]], coefficient=half, categories=[0, 1], interval=None)


@pytest.mark.parametrize("coefficient", ALL)
def test_resamples_in_which_one_agreement_has_no_unit_are_left_out(coefficient):
    # 4 of 30 clusters have units of the second: (26 / 30) ** 30 = 1.4% of resamples have none.
    before, after = two_tables(120)
    queries = np.arange(120) // 4
    first = Ratings.from_matrix(after, categories=SCALE, clusters=queries)
    second = Ratings.from_matrix(before[:16], categories=SCALE, clusters=queries[:16])

    found = compare(first, second, coefficient=coefficient, resamples=2_000)

    assert "resamples without a value left out" in found.interval_note
    assert interval_of(found).low < value_of(found) < interval_of(found).high


@pytest.mark.parametrize("interval", ["bootstrap", "bca", "analytic"])
def test_differences_over_many_pairs_equal_those_of_few(interval, monkeypatch):
    rng = np.random.default_rng(6)
    tables = [rng.integers(0, 3, (300, 6)).astype(float) for _ in range(2)]
    for table in tables:
        table[rng.random(table.shape) < 0.4] = np.nan

    def measured():
        return compare(
            *tables,
            coefficient=cohen_kappa,
            categories=range(3),
            units=(range(300), range(300)),
            interval=interval,
            resamples=200,
        )

    expected = measured()
    monkeypatch.setattr(bootstrap, "MOST_SUMS", 0)
    found = measured()

    assert found.paired == 300
    assert found.standard_error == pytest.approx(expected.standard_error, rel=1e-9)
    assert tuple(found.interval) == pytest.approx(tuple(expected.interval), abs=1e-9)


def test_memory_of_a_difference_does_not_grow_with_the_square_of_the_pairs_of_raters():
    tables = [team(40, 1_000, seed) for seed in (1, 2)]
    units = range(1_000), range(1_000)

    tracemalloc.start()
    found = compare(
        *tables,
        coefficient=cohen_kappa,
        categories=range(4),
        units=units,
        interval="bootstrap",
        resamples=100,
    )
    _now, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert (found.paired, found.interval is not None) == (1_000, True)
    assert peak < 100e6
