"""Ratings counted elsewhere, such as in a database."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from agreement import (
    Coefficient,
    Ratings,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    percent_agreement,
    scott_pi,
)

SCALE = [0, 1, 2]
COEFFICIENTS: dict[str, Callable[..., Coefficient]] = {
    "percent": percent_agreement,
    "kappa": partial(cohen_kappa, weights="linear"),
    "pi": scott_pi,
    "fleiss": fleiss_kappa,
    "AC2": partial(gwet_ac, weights="quadratic"),
    "alpha": partial(krippendorff_alpha, level="ordinal"),
}
METHODS = ["bootstrap", "bca", "analytic"]

tables = hnp.arrays(
    float, st.tuples(st.integers(1, 9), st.integers(2, 4)), elements=st.sampled_from([*SCALE, nan])
)


def alike(one: Coefficient, other: Coefficient) -> bool:
    return (
        one.value == pytest.approx(other.value, abs=1e-12)
        and (one.interval is None) == (other.interval is None)
        and (one.interval is None or one.interval == pytest.approx(other.interval, abs=1e-9))
        and (one.note, one.units, one.excluded, one.raters, one.pairs)
        == (other.note, other.units, other.excluded, other.raters, other.pairs)
    )


@pytest.mark.parametrize("name", COEFFICIENTS)
@given(method=st.sampled_from(METHODS), table=tables, data=st.data())
def test_patterns_with_times_equal_the_units_written_out(name, method, table, data):
    times = data.draw(hnp.arrays(int, len(table), elements=st.integers(0, 5)))
    clusters = np.arange(len(table)) % 3
    how = {"interval": method, "resamples": 100}
    written_out = np.repeat(table, times, axis=0)

    counted = COEFFICIENTS[name](Ratings.from_patterns(table, times, categories=SCALE), **how)
    by_cluster = COEFFICIENTS[name](
        Ratings.from_patterns(table, times, categories=SCALE, clusters=clusters), **how
    )

    assert alike(counted, COEFFICIENTS[name](written_out, categories=SCALE, **how))
    assert alike(
        by_cluster,
        COEFFICIENTS[name](
            written_out, categories=SCALE, clusters=np.repeat(clusters, times), **how
        ),
    )


@given(table=tables, data=st.data())
def test_a_table_of_counts_may_have_times_too(table, data):
    times = data.draw(hnp.arrays(int, len(table), elements=st.integers(0, 5)))
    counts = np.stack([(table == category).sum(axis=1) for category in SCALE], axis=1)

    found = fleiss_kappa(Ratings.from_counts(counts, categories=SCALE, times=times))

    written_out = Ratings.from_counts(np.repeat(counts, times, axis=0), categories=SCALE)
    assert alike(found, fleiss_kappa(written_out))


@pytest.mark.parametrize(
    ("times", "sentence"),
    [
        ([1], r"times are one number per row: their shape must be \(2,\), not \(1,\)"),
        ([1, -1], "times cannot be negative: -1"),
        ([1, 0.5], "times must be a whole number"),
        ([1, nan], "times must be a whole number"),
        (["a", "b"], "times are numbers of units; give only numbers"),
    ],
)
def test_invalid_times_are_refused(times, sentence):
    with pytest.raises(ValueError, match=sentence):
        Ratings.from_patterns([[0, 0], [1, 1]], times, categories=SCALE)


@pytest.mark.parametrize(
    ("clusters", "sentence"),
    [
        (["q1"], "clusters are one label per row: 2 labels, not 1"),
        (np.array([1, 2, 3]), "clusters are one label per row: 2 labels, not 3"),
        (["q1", None], "a unit has no cluster"),
        ([1.0, nan], "a unit has no cluster"),
    ],
)
def test_invalid_clusters_are_refused(clusters, sentence):
    with pytest.raises(ValueError, match=sentence):
        fleiss_kappa([[0, 0], [1, 1]], categories=SCALE, clusters=clusters)


def test_ratings_have_their_own_clusters():
    ratings = Ratings.from_matrix([[0, 0], [1, 1]], categories=SCALE)

    with pytest.raises(ValueError, match="have their own clusters"):
        fleiss_kappa(ratings, clusters=["q1", "q2"])


@pytest.mark.parametrize("raters", [["ada"], ["ada", "ada"], ["ada", "ben", "carla"]])
def test_raters_are_one_name_per_column(raters):
    with pytest.raises(ValueError, match="raters are one name per column: 2 different names"):
        Ratings.from_matrix([[0, 0], [1, 1]], categories=SCALE, raters=raters)


def test_the_long_shape_takes_the_cluster_of_every_unit():
    rows = [("d1", "ada", 0), ("d1", "ben", 0), ("d2", "ada", 1), ("d2", "ben", 1)]

    ratings = Ratings.from_long(rows, categories=SCALE, clusters={"d1": "q1", "d2": "q2"})

    assert ratings.names == ("ada", "ben")
    assert ratings.clusters is not None
    assert len(set(ratings.clusters.tolist())) == 2
    with pytest.raises(ValueError, match="the unit 'd2' has no cluster"):
        Ratings.from_long(rows, categories=SCALE, clusters={"d1": "q1"})
