from __future__ import annotations

from typing import Any

import pytest

import measures

from .rankings import ranked

nfr: Any = measures.nfr  # tests also pass arguments that the types forbid


def measured(with_instruction, without, trap, **options):
    return nfr(
        with_instruction={q: ranked(order) for q, order in with_instruction.items()},
        without={q: ranked(order) for q, order in without.items()},
        trap=trap,
        **options,
    )


@pytest.mark.parametrize(
    ("order", "value"), [("abcd", 0), ("cdab", 1), ("cabd", 0.5), ("abdc", 0.5)]
)
def test_nfr_is_the_share_of_trap_tables_that_rise(order, value):
    assert measured({"q": order}, {"q": "abcd"}, {"q": {"c", "d"}}).value == value


def test_the_pooled_value_weighs_tables_and_the_other_value_queries():
    runs = {"q": "bacd", "r": "abcd"}, {"q": "abcd", "r": "abcd"}
    trap = {"q": {"b"}, "r": {"a", "b", "c"}, "s": set()}

    assert measured(*runs, trap).value == 0.25
    assert measured(*runs, trap, average="by_query").value == 0.5
    assert measured(*runs, trap).by_query == {"q": 1, "r": 0}


def test_a_table_that_only_the_run_with_instructions_has_rises():
    assert measured({"q": "abc"}, {"q": "ab"}, {"q": {"c"}}, tables=9).value == 1


def test_there_is_no_value_without_trap_tables():
    result = measured({"q": "ab"}, {"q": "ab"}, {})

    assert result.value is None
    assert result.reason == "undefined: no query with a trap table is in both runs"
