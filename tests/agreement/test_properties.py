"""Properties of every table of ratings, tested with hypothesis."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from agreement import (
    Coefficient,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    percent_agreement,
    scott_pi,
)

SCALE = [0, 1, 2, 3]

COEFFICIENTS: dict[str, Callable[..., Coefficient]] = {
    "percent": percent_agreement,
    "kappa": cohen_kappa,
    "linear": partial(cohen_kappa, weights="linear"),
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
NOMINAL = ["percent", "kappa", "pi", "fleiss", "AC1", "alpha nominal"]
NOT_ALPHA = [name for name in COEFFICIENTS if not name.startswith("alpha")]

tables = hnp.arrays(
    float,
    st.tuples(st.integers(1, 12), st.integers(2, 4)),
    elements=st.sampled_from([*SCALE, np.nan]),
)
complete_tables = hnp.arrays(
    float, st.tuples(st.integers(1, 12), st.integers(2, 4)), elements=st.sampled_from(SCALE)
)

# A test without this mark tries all coefficients on one table: drawing a table takes longer than
# computing a coefficient, and each would be tried on the same tables.
every_coefficient = pytest.mark.parametrize("name", COEFFICIENTS)


def value(name: str, table: np.ndarray) -> float | None:
    return COEFFICIENTS[name](table, categories=SCALE).value


def same(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return one == pytest.approx(other, abs=1e-12)


@every_coefficient
@given(table=tables, data=st.data())
def test_the_order_of_units_does_not_matter(name, table, data):
    order = data.draw(st.permutations(range(len(table))))

    assert same(value(name, table), value(name, table[order]))


@every_coefficient
@given(table=tables, data=st.data())
def test_the_order_of_raters_does_not_matter(name, table, data):
    order = data.draw(st.permutations(range(table.shape[1])))

    assert same(value(name, table), value(name, table[:, order]))


@pytest.mark.parametrize("name", NOMINAL)
@given(table=tables, renamed=st.permutations(SCALE))
def test_the_order_of_nominal_categories_does_not_matter(name, table, renamed):
    new_names = np.where(
        np.isnan(table), np.nan, np.array(renamed)[np.nan_to_num(table).astype(int)]
    )

    assert same(value(name, table), value(name, new_names))


@given(table=tables)
def test_reversing_the_scale_does_not_matter(table):
    for name in sorted({*COEFFICIENTS} - {"alpha ratio"}):
        assert same(value(name, table), value(name, 3 - table)), name


@given(table=tables)
def test_doubling_every_unit_does_not_change_the_value(table):
    for name in NOT_ALPHA:
        # Not true for alpha, which corrects for small samples.
        assert same(value(name, table), value(name, np.vstack([table, table]))), name


@pytest.mark.parametrize("name", sorted({*COEFFICIENTS} - {*NOT_ALPHA}))
@given(table=tables)
def test_doubling_every_unit_brings_alpha_nearer_to_its_limit(name, table):
    # 1 - alpha is (n - 1) / n times a value that doubling does not change.
    once, twice = value(name, table), value(name, np.vstack([table, table]))
    if once is None or twice is None:
        assert once is twice
        return
    present = (~np.isnan(table)).sum(axis=1)
    n = present[present >= 2].sum()

    assert (1 - once) * n / (n - 1) == pytest.approx((1 - twice) * 2 * n / (2 * n - 1), abs=1e-9)


@every_coefficient
@given(
    values=st.lists(st.sampled_from(SCALE), min_size=2, max_size=12).filter(
        lambda v: len({*v}) > 1
    ),
    raters=st.integers(2, 4),
)
def test_perfect_agreement_is_1(name, values, raters):
    assert value(name, np.repeat(np.array(values, dtype=float)[:, None], raters, axis=1)) == 1.0


@pytest.mark.parametrize("name", sorted({*COEFFICIENTS} - {"percent"}))
@given(
    category=st.sampled_from(SCALE),
    present=hnp.arrays(bool, st.tuples(st.integers(1, 9), st.integers(2, 4))),
)
def test_a_constant_table_is_undefined(name, category, present):
    assert value(name, np.where(present, category, np.nan)) is None


@given(table=tables)
def test_units_that_fewer_than_two_judged_do_not_matter(table):
    for name in COEFFICIENTS:
        shared = (~np.isnan(table)).sum(axis=1) >= 2

        result = COEFFICIENTS[name](table, categories=SCALE)

        assert same(result.value, value(name, table[shared])), name
        assert result.units == shared.sum(), name
        assert result.units + sum(entry.units for entry in result.excluded) == len(table), name


@given(table=tables)
def test_a_rater_who_judged_nothing_does_not_matter(table):
    for name in COEFFICIENTS:
        with_absent = np.column_stack([table, np.full(len(table), np.nan)])

        assert same(value(name, table), value(name, with_absent)), name


@given(table=tables)
def test_values_are_at_most_1_and_undefined_ones_have_a_reason(table):
    for name in COEFFICIENTS:
        result = COEFFICIENTS[name](table, categories=SCALE)

        if result.value is None:
            assert result.note.startswith("undefined: "), name
        else:
            assert result.value <= 1.0, name


@given(table=tables)
def test_kappa_of_many_is_the_mean_of_kappas_of_two(table):
    pairs = [
        cohen_kappa(table[:, pair], categories=SCALE).value
        for pair in map(list, combinations(range(table.shape[1]), 2))
    ]
    values = [kappa for kappa in pairs if kappa is not None]

    assert same(value("kappa", table), float(np.mean(values)) if values else None)


@given(table=complete_tables)
def test_percent_agreement_counts_pairs_that_agree(table):
    agreeing = [row[a] == row[b] for row in table for a, b in combinations(range(len(row)), 2)]

    assert value("percent", table) == pytest.approx(np.mean(agreeing), abs=1e-12)


@given(table=tables, seed=st.integers(0, 99))
def test_an_interval_is_in_order_and_needs_a_value(table, seed):
    for name in COEFFICIENTS:
        result = COEFFICIENTS[name](
            table, categories=SCALE, interval="bootstrap", seed=seed, resamples=100
        )

        if result.interval is None:
            assert result.value is None or result.interval_note.startswith("no interval: "), name
        else:
            assert result.interval.low <= result.interval.high <= 1.0, name
