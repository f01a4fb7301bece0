from __future__ import annotations

from typing import Any

import pytest

import measures

robustness: Any = measures.robustness  # tests also pass arguments that the types forbid


def test_robustness_is_the_mean_of_the_lowest_score_of_each_core_query():
    scores = {"a": 0.8, "b": 0.2, "c": 0.6, "d": 0.7}
    result = robustness(scores, {"a": "q1", "b": "q1", "c": "q2", "d": "q2"}, k=5)

    assert result.name == "Robustness@5"
    assert result.by_query == {"q1": 0.2, "q2": 0.6}
    assert result.value == pytest.approx(0.4)


def test_queries_without_score_or_core_query_are_left_out():
    result = robustness({"a": 0.8, "b": None, "x": 0.1}, {"a": "q1", "b": "q1", "c": "q2"})

    assert (result.value, result.by_query) == (0.8, {"q1": 0.8, "q2": None})
    assert result.warnings == (
        "1 query without a core query (x): left out",
        "2 queries without a score (b, c): left out",
        "computed on 1 of 2 queries",
    )


def test_there_is_no_value_without_scores():
    assert robustness({}, {"a": "q"}).reason == "undefined: no core query has a score"


def test_an_infinite_score_is_refused():
    with pytest.raises(ValueError, match="the score of query a is inf; give a finite number"):
        robustness({"a": float("inf")}, {"a": "q"})
