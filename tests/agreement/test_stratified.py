"""A share over strata is weighted by their sizes; its interval is valid also without hits."""

from __future__ import annotations

import doctest
import math

import pytest

from agreement import stratified as module
from agreement.stratified import Stratified, Stratum, stratified


def limits(found: Stratified) -> tuple[float, float, float]:
    """Return both limits of the interval, and the bound."""
    assert found.interval is not None
    assert found.at_most is not None
    return (*found.interval, found.at_most)


def test_the_example_in_the_docstring_is_correct():
    failed, tried = doctest.testmod(module)

    assert (failed, tried) == (0, 2)


def test_each_stratum_is_weighted_by_its_size():
    # 900 / 1000 of 2 / 50 and 100 / 1000 of 10 / 50: 0.036 + 0.02. Unweighted it would be 12 / 100.
    found = stratified([Stratum(2, 50, 900), Stratum(10, 50, 100)])

    assert found.share == pytest.approx(0.056)
    low, high, at_most = limits(found)
    assert low < 0.056 < at_most < high


def test_the_bound_without_hits_is_the_rule_of_three_for_the_largest_weight():
    # The largest weight is 900 / 1000 / 50 = 0.018; a Poisson count of 0 leaves at most -ln(0.05)
    # = 2.9957 at 95%, and -ln(0.025) = 3.6889 with half of it on that side.
    found = stratified([Stratum(0, 50, 900), Stratum(0, 50, 100)])

    low, high, at_most = limits(found)
    assert (found.share, low) == (0, 0)
    assert at_most == pytest.approx(0.018 * -math.log(0.05))
    assert high == pytest.approx(0.018 * -math.log(0.025))


@pytest.mark.parametrize(
    ("count", "low", "high"),
    # The exact limits of a Poisson count, which tables list (Garwood 1936).
    [(0, 0, 3.6889), (1, 0.0253, 5.5716), (2, 0.2422, 7.2247), (10, 4.7954, 18.3904)],
)
def test_with_one_rate_the_limits_are_those_of_a_poisson_count(count, low, high):
    found = stratified([Stratum(count, 100, 1_000), Stratum(0, 50, 500)])

    assert found.share == pytest.approx(count / 150)
    assert found.interval == pytest.approx((low / 150, high / 150), abs=5e-7)


def test_no_bound_is_above_one():
    found = stratified([Stratum(2, 2, 10), Stratum(1, 1, 10)])

    assert (found.share, *limits(found)[1:]) == (1, 1, 1)


def chances(of: int, p: float) -> list[float]:
    return [math.comb(of, n) * p**n * (1 - p) ** (of - n) for n in range(of + 1)]


@pytest.mark.parametrize("rates", [(0.01, 0.01), (0.005, 0.2), (0.1, 0), (0.05, 0.3), (0.5, 0.5)])
def test_the_interval_has_its_coverage_for_all_rates(rates):
    # Every outcome of inspecting 15 and 10 items; one stratum is four times as large as the other.
    truth = 0.8 * rates[0] + 0.2 * rates[1]
    within = below = 0.0
    for x, chance_of_x in enumerate(chances(15, rates[0])):
        for y, chance_of_y in enumerate(chances(10, rates[1])):
            found = stratified([Stratum(x, 15, 8_000), Stratum(y, 10, 2_000)])
            low, high, at_most = limits(found)
            within += chance_of_x * chance_of_y * (low <= truth <= high)
            below += chance_of_x * chance_of_y * (truth <= at_most)

    assert within >= 0.95
    assert below >= 0.95


def test_there_is_no_estimate_if_a_stratum_has_no_inspected_item():
    found = stratified([Stratum(0, 50, 900), Stratum(0, 0, 100)])

    assert (found.share, found.interval, found.at_most) == (None, None, None)
    assert found.note == "undefined: nothing was looked at in 1 of 2 strata"
    # An empty stratum does not count.
    assert stratified([Stratum(1, 50, 900), Stratum(0, 0, 0)]).share == pytest.approx(0.02)
    assert stratified([]).note == "undefined: there is nothing in any stratum"


@pytest.mark.parametrize("wrong", [Stratum(-1, 5, 10), Stratum(6, 5, 10), Stratum(1, 11, 10)])
def test_impossible_counts_are_refused(wrong):
    with pytest.raises(ValueError, match="not a share"):
        stratified([wrong])
    with pytest.raises(ValueError, match="confidence"):
        stratified([Stratum(0, 1, 1)], confidence=1)
