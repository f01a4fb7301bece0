from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from measures import nfr, significance

compare: Any = significance.compare  # tests also pass arguments that the types forbid
holm: Any = significance.holm

NUMBERS = np.random.default_rng(17)
FIRST = dict(zip("abcdefghijklmnopqrst", NUMBERS.normal(0.1, 0.2, 20), strict=True))
SECOND = dict.fromkeys(FIRST, 0.0)


def test_the_difference_is_the_mean_over_shared_queries_with_an_interval():
    result = compare({"q": 1.0, "r": 0.5, "s": None}, {"q": 0.0, "r": 0.5, "t": 1.0})

    assert (result.difference, result.n) == (0.5, 2)
    assert result.interval == (0, 1)
    assert result.warnings == ("1 query with a value of one system only (t)",)


def risen(**by_query: tuple[int, int]) -> Any:
    """NFR of a system, by query: how many trap tables rise, of how many."""
    orders = {query: [f"t{n}" for n in range(of)] for query, (_, of) in by_query.items()}
    old = {query: {"x": 1.0, **dict.fromkeys(tables, 0.0)} for query, tables in orders.items()}
    new = {
        query: {**old[query], **dict.fromkeys(tables[: by_query[query][0]], 2.0)}
        for query, tables in orders.items()
    }
    return nfr(with_instruction=new, without=old, trap=orders, tables=9)


def test_the_difference_of_a_pooled_measure_is_that_of_its_values():
    first, second = risen(q=(0, 1), r=(3, 6)), risen(q=(1, 1), r=(0, 6))

    result = compare(first, second)

    # Of the 7 tables, 3 rise in one system and 1 in the other; by query it would be -1/4.
    assert (first.value, second.value) == (3 / 7, 1 / 7)
    assert result.difference == pytest.approx(2 / 7)
    # The counts differ by -1 and 3: every assignment of signs is as far from 0 as 2 is.
    assert result.p == 1.0


def test_systems_that_pool_other_counts_are_compared_by_query():
    first, second = risen(q=(1, 2), r=(0, 1)), risen(q=(1, 4), r=(0, 1))

    assert compare(first, second).difference == pytest.approx((1 / 2 - 1 / 4) / 2)


@pytest.fixture(scope="module")
def stats() -> Any:
    """scipy.stats, which takes a second to import: not while tests are collected."""
    from scipy import stats

    return stats


def test_the_t_test_equals_that_of_scipy(stats):
    result = compare(FIRST, SECOND, test="t")
    expected = stats.ttest_rel(list(FIRST.values()), list(SECOND.values()))

    assert result.statistic == pytest.approx(expected.statistic)
    assert result.p == pytest.approx(expected.pvalue, rel=1e-6)


@pytest.mark.parametrize("degrees", [1, 2, 9, 249, 9_999])
@pytest.mark.parametrize("t", [0.1, 1.96, 8.0])
def test_the_tail_of_t_equals_that_of_scipy(stats, t, degrees):
    assert significance.upper_tail(t, degrees) == pytest.approx(stats.t.sf(t, degrees), rel=1e-6)


def test_randomization_counts_all_signs_of_few_queries_and_draws_those_of_many(stats):
    few = {q: FIRST[q] for q in "abcdefgh"}
    exact = stats.permutation_test(
        (list(few.values()), [0.0] * 8),
        lambda x, y: np.mean(x - y),
        permutation_type="samples",
        n_resamples=np.inf,
    )

    assert compare(few, SECOND).p == pytest.approx(exact.pvalue)
    assert compare(FIRST, SECOND).p == compare(FIRST, SECOND).p
    assert compare(FIRST, SECOND).p == pytest.approx(compare(FIRST, SECOND, test="t").p, abs=0.02)


def test_equal_systems_differ_by_0_with_p_1_and_have_no_t():
    assert compare(FIRST, FIRST).p == 1
    same = compare(FIRST, FIRST, test="t")
    assert (same.difference, same.p) == (0, None)
    assert same.reason == "undefined: the differences do not vary, so there is no t"


@pytest.mark.parametrize(
    ("first", "second", "test", "reason"),
    [
        ({"q": 1}, {"r": 1}, "t", "undefined: the two systems have no query in common"),
        ({"q": 1}, {"q": 0}, "t", "undefined: the t test needs at least two queries"),
    ],
)
def test_too_few_queries_have_no_p(first, second, test, reason):
    result = compare(first, second, test=test)

    assert (result.p, result.reason) == (None, reason)


def test_holm_multiplies_by_the_number_left_and_does_not_decrease():
    assert holm({"a": 0.01, "b": 0.04, "c": None, "d": 0.03, "e": 0.9}) == {
        "a": pytest.approx(0.04),
        "b": pytest.approx(0.09),
        "c": None,
        "d": pytest.approx(0.09),
        "e": 0.9,
    }
    with pytest.raises(ValueError, match=r"the p-value of a is 1\.5; it is between 0 and 1"):
        holm({"a": 1.5})


def test_options_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="test is 't' or 'randomization', not 'sign'"):
        compare(FIRST, SECOND, test="sign")
    with pytest.raises(ValueError, match="0 permutations are too few; give 1 or more"):
        compare(FIRST, SECOND, permutations=0)
