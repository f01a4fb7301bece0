from __future__ import annotations

from math import log2
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import measures

from .rankings import ranked

irs: Any = measures.irs  # tests also pass arguments that the types forbid

SETS = {"positive": {"q": {"a", "b"}}, "violating": {"q": {"y", "z"}}, "tables": 6}


def measured(with_instruction, without, **options):
    runs = {"with_instruction": {"q": ranked(with_instruction)}, "without": {"q": ranked(without)}}
    return irs(**runs, **{**SETS, "interval": None, **options})


def test_irs_is_the_weight_gained_over_the_weight_that_could_be_gained():
    # Base y a z b m n, with the instruction a y b z m n; 1 / log2(rank + 1) is the weight.
    w = [0, *(1 / log2(rank + 1) for rank in range(1, 7))]
    gained = (w[1] + w[3] - w[2] - w[4]) - (w[2] + w[4] - w[1] - w[3])
    best = (w[1] + w[2] - w[2] - w[4]) - (w[5] + w[6] - w[1] - w[3])

    assert measured("aybzmn", "yazbmn").value == pytest.approx(gained / best, abs=1e-12)


def test_a_loss_is_divided_by_what_could_be_lost():
    w = [0, *(1 / log2(rank + 1) for rank in range(1, 7))]
    lost = (w[2] + w[4] - w[1] - w[3]) - (w[1] + w[3] - w[2] - w[4])
    worst = (w[5] + w[6] - w[1] - w[3]) - (w[1] + w[2] - w[2] - w[4])

    assert measured("yazbmn", "aybzmn").value == pytest.approx(lost / -worst, abs=1e-12)


@given(st.permutations("abmnyz"))
def test_the_ideal_gets_1_the_base_0_and_the_worst_minus_1(base):
    ideal = set(base[:2]) == {"a", "b"} and set(base[4:]) == {"y", "z"}
    worst = set(base[:2]) == {"y", "z"} and set(base[4:]) == {"a", "b"}

    assert measured("abmnyz", base).value == pytest.approx(1)
    assert measured(base, base).value == (1 if ideal else 0)
    assert measured("yzmnab", base).value == pytest.approx(0 if worst else -1)


@pytest.mark.parametrize(("rule", "value"), [("one", 1), ("zero", 0), ("undefined", None)])
def test_a_base_that_is_ideal_and_stays_so_has_the_requested_value(rule, value):
    result = measured("abmnyz", "banmzy", ideal_equals_base=rule)

    assert result.by_query == {"q": value}
    assert result.warnings[0] == f"the base is ideal already and stays so in 1 query (q): {rule}"


def test_one_set_may_be_empty_and_two_empty_sets_give_0():
    assert measured("abmnyz", "mnabyz", violating={}).value == pytest.approx(1)
    empty = measured("abmnyz", "mnabyz", positive={"q": set()}, violating={})
    assert empty.value == 0
    assert empty.warnings == ("no table in either set of 1 query (q): IRS 0",)


def test_a_missing_table_ranks_after_all_tables_or_after_the_run():
    w = [0, *(1 / log2(rank + 1) for rank in range(1, 8))]
    sets = {"positive": {"q": {"a"}}, "violating": {}}
    # a comes in at rank 2 of 3; it was missing from m n.
    after_tables = measured("man", "mn", **sets)
    after_run = measured("man", "mn", **sets, missing="after_run")

    assert after_tables.value == pytest.approx((w[2] - w[7]) / (w[1] - w[7]))
    assert after_run.value == pytest.approx((w[2] - w[3]) / (w[1] - w[3]))
    assert after_tables.warnings == (
        "the run without instructions lacks 1 document (a), ranked after tables",
    )


def test_the_number_of_tables_changes_the_value():
    assert measured("ambnyz", "yambzn").value != measured("ambnyz", "yambzn", tables=600).value


def test_the_default_number_of_tables_comes_from_the_rankings():
    result = measured("ambnyz", "yambzn", tables=None)

    assert result.value == measured("ambnyz", "yambzn", tables=6).value
    assert result.warnings == (
        "the number of tables is taken from the rankings; give tables to compare with others",
    )


def test_the_base_may_have_other_ids():
    result = irs(
        with_instruction={"1_0": ranked("abmnyz"), "1_1": ranked("ymazbn")},
        without={"1": ranked("ymazbn")},
        positive={"1_0": {"a", "b"}, "1_1": {"a"}},
        violating={"1_0": {"y", "z"}},
        tables=6,
        base={"1_0": "1", "1_1": "1"},
    )

    assert result.by_query == pytest.approx({"1_0": 1, "1_1": 0})
    assert result.warnings == ()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"tables": 5}, "query q names 6 tables, more than tables=5"),
        ({"violating": {"q": {"a"}}}, r"query q: tables both comply and violate \(a\)"),
        ({"ideal_equals_base": 1}, "ideal_equals_base is 'one' or 'zero' or 'undefined', not 1"),
    ],
)
def test_sets_and_options_that_do_not_fit_are_refused(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        measured("abmnyz", "yambzn", **options)


def test_a_query_that_a_run_lacks_is_left_out():
    result = irs(
        with_instruction={"q": ranked("ab")}, without={}, positive={"q": "a"}, violating={}
    )

    assert (result.value, result.reason) == (None, "undefined: no query is in both runs")


def test_a_query_that_a_run_lacks_is_left_out_even_if_both_its_sets_are_empty():
    result = irs(
        with_instruction={"q": ranked("ab"), "r": ranked("ab")},
        without={"q": ranked("ba")},
        positive={"q": "a", "r": ""},
        violating={"q": "b", "r": ""},
    )

    assert result.by_query == {"q": pytest.approx(1), "r": None}
    assert result.n == 1
    assert not any("IRS 0" in warning for warning in result.warnings)


@settings(max_examples=20)
@given(st.floats(0.5, 50))
def test_scaling_scores_changes_nothing(factor):
    scaled = {"q": {t: score * factor for t, score in ranked("ambnyz").items()}}

    result = irs(with_instruction=scaled, without={"q": ranked("yambzn")}, **SETS, interval=None)

    assert result.value == measured("ambnyz", "yambzn").value
