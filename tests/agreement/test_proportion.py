"""A share has an exact interval, and the bound gives how many more must be checked."""

from __future__ import annotations

import doctest
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agreement import proportion as module
from agreement.proportion import exact_interval, more_needed, proportion, upper_bound

counted = st.integers(0, 150).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of)))
confidences = st.sampled_from([0.5, 0.9, 0.95, 0.99])


def chance_of_at_most(count: int, of: int, p: float) -> float:
    """Return P(X <= count), summed term by term, in whole numbers as far as possible."""
    return math.fsum(math.comb(of, i) * p**i * (1 - p) ** (of - i) for i in range(count + 1))


def test_the_examples_in_the_docstrings_are_correct():
    failed, tried = doctest.testmod(module)

    assert (failed, tried) == (0, 4)


@pytest.mark.parametrize(
    ("count", "of", "low", "high"),
    [
        # None of n: 1 - 0.025 ** (1 / n), by hand.
        (0, 150, 0.0, 0.0242926),
        (0, 1, 0.0, 0.975),
        # All of n: 0.025 ** (1 / n).
        (3, 3, 0.2924018, 1.0),
        # These two are from scipy.stats.binomtest; 12 of 500 is MultiConIR's residual error.
        (5, 10, 0.1870861, 0.8129139),
        (12, 500, 0.0124612, 0.0415476),
    ],
)
def test_known_intervals_are_reproduced(count, of, low, high):
    assert exact_interval(count, of) == pytest.approx((low, high), abs=1e-7)


def test_no_error_in_150_is_at_most_two_percent():
    assert upper_bound(0, 150) == pytest.approx(1 - 0.05 ** (1 / 150), abs=1e-12)
    assert upper_bound(0, 150) == pytest.approx(0.0197734, abs=1e-7)


@given(counted, confidences)
def test_the_tails_beyond_the_limits_have_the_left_out_probability(pair, confidence):
    count, of = pair
    if not of:
        assert exact_interval(0, 0) == (0.0, 1.0)
        return
    low, high = exact_interval(count, of, confidence=confidence)
    tail = (1 - confidence) / 2

    assert 0 <= low <= count / of <= high <= 1
    if count < of:
        assert chance_of_at_most(count, of, high) == pytest.approx(tail, abs=1e-9)
    if count:
        assert 1 - chance_of_at_most(count - 1, of, low) == pytest.approx(tail, abs=1e-9)


@given(counted, confidences)
def test_intervals_equal_those_of_scipy(pair, confidence):
    stats = pytest.importorskip("scipy.stats", reason="scipy is not installed")
    count, of = pair
    if not of:
        return
    theirs = stats.binomtest(count, of).proportion_ci(confidence, method="exact")
    one_sided = stats.binomtest(count, of, alternative="less").proportion_ci(confidence)

    assert exact_interval(count, of, confidence=confidence) == pytest.approx(theirs, abs=1e-9)
    assert upper_bound(count, of, confidence=confidence) == pytest.approx(one_sided.high, abs=1e-9)


@pytest.mark.parametrize(("count", "of"), [(0, 100_000), (700, 100_000), (99_999, 100_000)])
def test_large_samples_are_equally_exact(count, of):
    stats = pytest.importorskip("scipy.stats", reason="scipy is not installed")
    theirs = stats.binomtest(count, of).proportion_ci(method="exact")

    assert exact_interval(count, of) == pytest.approx(theirs, abs=1e-9)


@given(counted)
def test_intervals_of_errors_and_of_correct_items_mirror_each_other(pair):
    count, of = pair
    low, high = exact_interval(count, of)
    other_low, other_high = exact_interval(of - count, of)

    assert (low, high) == pytest.approx((1 - other_high, 1 - other_low), abs=1e-12)


@given(counted, st.sampled_from([0.01, 0.02, 0.1, 0.5]))
def test_the_number_needed_is_enough_and_one_less_is_not(pair, bound):
    count, of = pair
    more = more_needed(count, of, bound=bound)

    assert more is not None
    assert upper_bound(count, of + more) <= bound + 1e-12
    if more:
        assert upper_bound(count, of + more - 1) > bound


@pytest.mark.parametrize(
    ("count", "of", "bound", "more"),
    [
        # The rule of three, exactly: log 0.05 / log 0.98 = 148.3, log 0.05 / log 0.99 = 298.1.
        (0, 0, 0.02, 149),
        (0, 100, 0.02, 49),
        (0, 150, 0.01, 149),
        (0, 300, 0.01, 0),
        # One error: 236 with P(X <= 1) = 0.0499 at 2%, so 86 more.
        (1, 150, 0.02, 86),
    ],
)
def test_the_number_needed_equals_the_one_by_hand(count, of, bound, more):
    assert more_needed(count, of, bound=bound) == more


def test_a_number_beyond_the_maximum_is_none():
    assert more_needed(0, 0, bound=1e-9) is None


def test_a_share_of_nothing_is_undefined_with_a_reason():
    found = proportion(0, 0)

    assert (found.share, found.interval, found.at_most) == (None, None, None)
    assert found.note == "undefined: nothing was looked at"


def test_a_share_has_all_its_figures():
    found = proportion(3, 12)

    assert (found.count, found.of, found.share, found.note) == (3, 12, 0.25, "")
    assert found.interval == pytest.approx((0.0548606, 0.5718585), abs=1e-7)
    assert found.at_most == pytest.approx(0.5273266, abs=1e-7)
    assert found.confidence == 0.95


@pytest.mark.parametrize(
    ("count", "of", "confidence"), [(-1, 5, 0.95), (6, 5, 0.95), (1, 5, 0), (1, 5, 1)]
)
def test_invalid_shares_are_refused(count, of, confidence):
    with pytest.raises(ValueError, match=r"not a share|between 0 and 1"):
        proportion(count, of, confidence=confidence)


@pytest.mark.parametrize("bound", [0, 1, -0.1])
def test_a_bound_of_0_or_1_is_refused(bound):
    with pytest.raises(ValueError, match="a bound must be between 0 and 1"):
        more_needed(0, 10, bound=bound)
