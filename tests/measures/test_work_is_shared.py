"""Measures of the same run, or of the same number of queries, share computations."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np

from agreement import bootstrap
from measures import Scores, compare, p_mrr, sicr, wise
from measures.measurement import Bootstrap, ratio_of_sums

from .rankings import ranked

RUN = {"q": ranked("abc"), "r": ranked("cba")}


def test_a_part_of_a_run_has_the_ranks_of_the_run():
    whole = Scores(RUN, "original run")
    whole.ranks("q", "abc")

    part = whole.only(["q"])

    with patch.object(np, "searchsorted", side_effect=AssertionError):
        assert dict(part.ranks("q", "ac")) == {"a": 1, "b": 2, "c": 3}
    assert (list(part), part.name) == (["q"], "original run")


def test_measures_of_a_prepared_run_look_up_each_rank_once():
    scores = Scores(RUN)
    modes: Any = {"original": scores, "instructed": scores, "reversed": scores, "gold": {"q": "a"}}
    p_mrr(
        original=scores,
        changed=scores,
        qrels_original={"q": {"a": 1}},
        qrels_changed={"q": {"a": 0}},
    )

    with patch.object(np, "searchsorted", side_effect=AssertionError):
        assert (wise(**modes).value, sicr(**modes).value) == (0, 0)


def test_the_interval_equals_that_of_fresh_draws():
    terms = [(value, 1.0) for value in (0.1, 0.4, 0.4, 0.9)]
    shared = ratio_of_sums(terms, Bootstrap())[1].interval

    with patch.object(bootstrap, "_NUMBERS_AT_A_TIME", 3_999):
        anew = ratio_of_sums(terms, Bootstrap())[1].interval

    assert shared is not None
    assert anew is not None
    assert (shared.low, shared.high) == (anew.low, anew.high)


def test_p_of_many_queries_equals_that_of_freshly_drawn_signs():
    first = {f"q{number}": number / 20 for number in range(20)}
    second = {**dict.fromkeys(first, 0.0), "q3": 9.0}

    shared = compare(first, second).p
    with patch("measures.significance._NUMBERS_CACHED", 0):
        assert compare(first, second).p == shared
