from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agreement import (
    Coefficient,
    bootstrap,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    percent_agreement,
    scott_pi,
)

COEFFICIENTS: dict[str, Callable[..., Coefficient]] = {
    "percent": percent_agreement,
    "kappa": cohen_kappa,
    "quadratic": partial(cohen_kappa, weights="quadratic"),
    "pi": scott_pi,
    "linear pi": partial(scott_pi, weights="linear"),
    "fleiss": fleiss_kappa,
    "linear fleiss": partial(fleiss_kappa, weights="linear"),
    "AC1": gwet_ac,
    "AC2": partial(gwet_ac, weights="quadratic"),
    "alpha nominal": krippendorff_alpha,
    "alpha ordinal": partial(krippendorff_alpha, level="ordinal"),
    "alpha interval": partial(krippendorff_alpha, level="interval"),
    "alpha ratio": partial(krippendorff_alpha, level="ratio"),
}
every_coefficient = pytest.mark.parametrize("name", COEFFICIENTS)


def ratings(units: int, raters: int = 3, missing: float = 0.1, seed: int = 1) -> np.ndarray:
    """Return ratings on a scale of 4 by raters who know 60% of the truth and guess the rest."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, (units, 1))
    guess = rng.integers(0, 4, (units, raters))
    table = np.where(rng.random((units, raters)) < 0.6, truth, guess).astype(float)
    table[rng.random(table.shape) < missing] = np.nan
    return table


def with_interval(name: str, table: np.ndarray, **options: int) -> Coefficient:
    return COEFFICIENTS[name](table, categories=range(4), interval="bootstrap", **options)


@every_coefficient
def test_every_resample_has_the_value_of_the_units_drawn(name, monkeypatch):
    # The resamples are counts of patterns; the test writes them out as units again.
    table = ratings(40)
    drawn: list[tuple[np.ndarray, np.ndarray]] = []
    original = bootstrap.Resampler.resample

    def watched(units, resamples, rng):
        draws = np.random.default_rng(3).multinomial(
            units.size, units.times / units.size, size=resamples
        )
        values = original(units, resamples, rng)
        drawn.append((draws, values))
        return values

    monkeypatch.setattr(bootstrap.Resampler, "resample", watched)
    with_interval(name, table, seed=3, resamples=100)
    (draws, values), *_ = drawn

    patterns = patterns_of(name, table)
    for times, value in zip(draws, values, strict=True):
        units = np.repeat(patterns, times, axis=0)
        again = COEFFICIENTS[name](units, categories=range(4)).value
        assert value == pytest.approx(again, abs=1e-12)


def patterns_of(name: str, table: np.ndarray) -> np.ndarray:
    """Return the patterns of the draws, as units x raters: most frequent first, then by code."""
    shared = table[(~np.isnan(table)).sum(axis=1) >= 2]
    codes = np.nan_to_num(shared, nan=-1).astype(int)
    if name in ("kappa", "quadratic", "pi", "linear pi"):
        rows, times = np.unique(codes, axis=0, return_counts=True)
        return np.where(rows < 0, np.nan, rows)[np.argsort(-times, kind="stable")]
    counts = np.stack([(codes == category).sum(axis=1) for category in range(4)], axis=1)
    rows, times = np.unique(counts, axis=0, return_counts=True)
    units = [np.repeat(np.arange(4), row) for row in rows[np.argsort(-times, kind="stable")]]
    return np.array(
        [np.pad(u.astype(float), (0, 3 - len(u)), constant_values=np.nan) for u in units]
    )


@every_coefficient
def test_the_interval_equals_that_of_a_plain_resampling_loop(name):
    table = ratings(80)
    rng = np.random.default_rng(11)
    loop = [
        COEFFICIENTS[name](table[rng.integers(0, 80, 80)], categories=range(4)).value
        for _ in range(1_000)
    ]
    # Units that fewer than two judged (2 or 3 of 80) are drawn in the loop, but not by agreement.
    low, high = np.percentile(np.array(loop, dtype=float), [2.5, 97.5])

    interval = with_interval(name, table, resamples=20_000).interval

    assert interval is not None
    assert interval.low == pytest.approx(low, abs=0.03)
    assert interval.high == pytest.approx(high, abs=0.03)


@every_coefficient
def test_the_same_seed_gives_the_same_interval_and_another_seed_another(name):
    table = ratings(60)

    first, again, other = (
        with_interval(name, table, seed=seed, resamples=200) for seed in (1, 1, 2)
    )

    assert first.interval == again.interval
    assert first.interval != other.interval


@every_coefficient
@given(order=st.permutations(range(30)))
def test_the_order_of_units_does_not_change_the_interval(name, order):
    table = ratings(30)

    shuffled = with_interval(name, table[order], resamples=100)

    assert shuffled.interval == with_interval(name, table, resamples=100).interval


@every_coefficient
def test_the_size_of_portions_does_not_change_the_interval(name, monkeypatch):
    table = ratings(60)
    whole = with_interval(name, table, resamples=500)

    monkeypatch.setattr(bootstrap, "_NUMBERS_AT_A_TIME", 1_000)
    in_portions = with_interval(name, table, resamples=500)

    assert in_portions.interval == pytest.approx(whole.interval, abs=1e-12)


def test_the_interval_contains_the_value_and_its_note_describes_it():
    result = with_interval("fleiss", ratings(200), seed=7, resamples=1_000)

    assert result.value is not None
    assert result.interval is not None
    assert result.interval.low < result.value < result.interval.high
    assert result.interval_note == (
        "95% expanded percentile bootstrap over units, 1,000 resamples, seed 7"
    )
    assert (result.seed, result.resamples) == (7, 1_000)


def test_there_is_no_interval_unless_requested():
    result = fleiss_kappa(ratings(20), categories=range(4))

    assert (result.interval, result.interval_note) == (None, "")
    assert (result.seed, result.resamples) == (None, None)


def test_one_unit_has_no_interval():
    result = cohen_kappa([[0, 1]], categories=[0, 1], interval="bootstrap")

    assert result.value == 0.0
    assert result.interval is None
    assert result.interval_note == "no interval: resampling needs at least two units"


def test_the_note_on_perfect_agreement_says_that_resamples_do_not_differ():
    result = fleiss_kappa([[0, 0]] * 20 + [[1, 1]] * 20, categories=[0, 1], interval="bootstrap")

    assert result.interval == (1.0, 1.0)
    assert result.interval_note.endswith(
        "the resamples do not differ, so the interval cannot show the uncertainty"
    )


def test_resamples_without_a_value_are_left_out_and_counted():
    # 4 of 100 units are not (0, 0); a resample without any of them has one category:
    # 0.96 ** 100 = 1.7% of them.
    result = cohen_kappa(
        [[0, 0]] * 96 + [[1, 1]] * 4, categories=[0, 1], interval="bootstrap", resamples=10_000
    )

    note = result.interval_note
    left_out = int(note.partition("seed 0; ")[2].split()[0])
    assert 120 <= left_out <= 220
    assert result.interval == (1.0, 1.0)


def test_there_is_no_interval_with_many_resamples_without_a_value():
    # 0.99 ** 100 = 37% of resamples have one category.
    result = cohen_kappa([[0, 0]] * 99 + [[1, 1]], categories=[0, 1], interval="bootstrap")

    assert result.value == 1.0
    assert result.interval is None
    assert result.interval_note.startswith("no interval: 3,")
    assert result.interval_note.endswith(" of 10,000 resamples had no value")


def test_ten_times_the_units_of_the_same_patterns_have_a_narrower_interval():
    table = ratings(100)

    one, ten = (with_interval("alpha ordinal", np.tile(table, (n, 1))) for n in (1, 10))

    assert one.interval is not None
    assert ten.interval is not None
    width = one.interval.high - one.interval.low
    assert ten.interval.high - ten.interval.low == pytest.approx(width / 10**0.5, rel=0.05)


def team(people: int, documents: int, seed: int = 5) -> np.ndarray:
    """Return ratings of documents that three of many people judged."""
    rng = np.random.default_rng(seed)
    table = ratings(documents, people, missing=0, seed=seed)
    order = rng.random(table.shape).argsort(axis=1)
    table[order >= 3] = np.nan
    return table


@pytest.mark.parametrize("name", ["kappa", "quadratic", "pi"])
@pytest.mark.parametrize("clusters", [None, [unit // 4 for unit in range(400)]])
def test_intervals_over_many_pairs_equal_those_of_few(name, clusters, monkeypatch):
    def measured() -> list[Coefficient]:
        given = {"categories": range(4), "clusters": clusters, "resamples": 1_000}
        table = team(8, 400)
        return [
            COEFFICIENTS[name](table, interval=interval, **given)
            for interval in ("bootstrap", "bca", "analytic")
        ]

    expected = measured()
    monkeypatch.setattr(bootstrap, "MOST_SUMS", 0)

    for found, its in zip(measured(), expected, strict=True):
        assert found.value == its.value
        assert found.standard_error == pytest.approx(its.standard_error, rel=1e-9)
        # Equal clusters are drawn in another order.
        close = 1e-9 if clusters is None or found.resamples is None else 0.03
        assert found.interval == pytest.approx(its.interval, abs=close)


@pytest.mark.parametrize("interval", ["bootstrap", "analytic"])
def test_memory_does_not_grow_with_the_square_of_the_pairs_of_raters(interval):
    table = team(40, 2_500)

    tracemalloc.start()
    found = cohen_kappa(table, categories=range(4), interval=interval, resamples=100)
    _now, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    # 780 pairs have 7,020 sums, and a matrix of these takes 394 MB.
    assert (found.pairs, found.interval is not None) == (780, True)
    assert peak < 100e6


def test_an_interval_that_excludes_its_value_says_why():
    # About two documents for each pair.
    found = cohen_kappa(team(40, 600), categories=range(4), interval="bootstrap", resamples=200)

    assert found.interval is not None
    assert found.value is not None
    assert found.interval.high < found.value
    assert found.interval_note.endswith(
        "; the value is outside, because resamples of few units are biased"
    )
