"""Instructions that share one core query are resampled together."""

from __future__ import annotations

import pytest

from measures import Measurement, clustered, compare, robustness

VALUES = {f"{core}{number}": float(core == "b") for core in "ab" for number in range(10)}
CORE = {query: query[0] for query in VALUES}


def measured() -> Measurement:
    return robustness(VALUES, {query: query for query in VALUES})


def width(interval):
    return interval.high - interval.low


def test_the_interval_over_clusters_is_wider_if_instructions_of_a_query_are_similar():
    over_queries, over_clusters = measured(), clustered(measured(), CORE)

    assert over_clusters.value == over_queries.value == 0.5
    assert over_clusters.interval is not None
    # With two clusters, a resample that has one of them twice gives 0 or 1.
    assert (over_clusters.interval.low, over_clusters.interval.high) == (0, 1)
    assert width(over_queries.interval) < 1
    assert "over 2 clusters" in over_clusters.interval_note


def test_with_one_query_per_cluster_the_interval_is_that_over_queries():
    found = clustered(measured(), {})

    assert width(found.interval) == pytest.approx(width(measured().interval), abs=0.1)


def test_one_cluster_has_no_interval():
    found = clustered(measured(), dict.fromkeys(VALUES, "core"))

    assert (found.interval, found.value) == (None, 0.5)
    assert found.interval_note == "no interval: resampling needs at least two clusters"


def test_the_differences_of_a_cluster_have_one_sign():
    six = ("a1", "a2", "a3", "b1", "b2", "b3")
    nothing, ones = dict.fromkeys(six, 0.0), dict.fromkeys(six, 1.0)

    # With six signs, 2 of 64 assignments are as far from 0; with two clusters, 2 of 4.
    assert compare(ones, nothing).p == 2 / 64
    assert compare(ones, nothing, clusters=CORE).p == 2 / 4


def test_the_t_test_takes_no_clusters():
    with pytest.raises(ValueError, match="with clusters, use randomization"):
        compare(VALUES, VALUES, test="t", clusters=CORE)
