from __future__ import annotations

from typing import Any

import pytest

import measures

from .rankings import ranked, three_modes

sicr: Any = measures.sicr  # tests also pass arguments that the types forbid


def of_scores(original, instructed, reverse, **options):
    """Return SICR of document g with these scores beside x with 5 and y with 1."""
    runs = {
        mode: {"q": {"x": 5.0, "y": 1.0, "g": score}}
        for mode, score in (
            ("original", original),
            ("instructed", instructed),
            ("reversed", reverse),
        )
    }
    return sicr(**runs, gold={"q": "g"}, interval=None, **options).value


@pytest.mark.parametrize(
    ("original", "instructed", "reverse", "value"),
    [
        (3.0, 6.0, 0.0, 1),
        (3.0, 4.0, 0.0, 0),  # the rank does not rise
        (3.0, 6.0, 2.0, 0),  # the rank does not fall
        (6.0, 7.0, 0.0, 0),  # already first
        (3.0, 3.0, 3.0, 0),
        (3.0, 0.0, 6.0, 0),
    ],
)
def test_sicr_needs_rank_and_score_to_rise_and_to_fall(original, instructed, reverse, value):
    assert of_scores(original, instructed, reverse) == value


def test_a_rank_that_rises_with_a_lower_score_does_not_count():
    runs = {
        "original": {"q": {"x": 5.0, "g": 4.0}},
        "instructed": {"q": {"x": 2.0, "g": 3.0}},
        "reversed": {"q": {"x": 5.0, "y": 2.0, "g": 1.0}},
    }

    assert sicr(**runs, gold={"q": "g"}).value == 0


@pytest.mark.parametrize(
    ("original", "instructed", "reverse", "value"),
    [(6.0, 6.0, 0.0, 1), (6.0, 5.5, 0.0, 0), (6.0, 7.0, 5.5, 0), (3.0, 6.0, 0.0, 1)],
)
def test_the_code_counts_a_document_that_stays_first(original, instructed, reverse, value):
    assert of_scores(original, instructed, reverse, variant="code") == value


def test_several_gold_documents_count_by_mean_all_any_or_in_the_code_by_the_last():
    runs = {
        "original": {"q": {"x": 5.0, "g": 4.0, "h": 3.0, "y": 2.0}},
        "instructed": {"q": {"x": 5.0, "g": 6.0, "h": 3.0, "y": 2.0}},
        "reversed": {"q": {"x": 5.0, "g": 1.0, "h": 3.0, "y": 2.0}},
    }

    def value(gold, **options):
        return sicr(**runs, gold={"q": gold}, **options).value

    assert value(["g", "h"]) == 0.5
    assert value(["g", "h"], several="all") == 0
    assert value(["g", "h"], several="any") == 1
    assert value(["g", "h"], variant="code") == 0
    assert value(["h", "g"], variant="code") == 0.5


def test_a_missing_score_is_the_lowest_or_zero():
    runs = {
        "original": {"q": {"x": -1.0, "g": -2.0}},
        "instructed": {"q": {"x": -1.0, "g": -0.5}},
        "reversed": {"q": {"x": -1.0, "y": -3.0}},
    }

    assert sicr(**runs, gold={"q": "g"}).value == 1
    assert sicr(**runs, gold={"q": "g"}, missing_score="zero").value == 0
    assert sicr(**runs, gold={"q": "g"}, variant="code").value == 0


def test_the_mean_is_over_the_queries_that_all_three_runs_have():
    runs = three_modes(2, 1, 3)
    for run in runs.values():
        run["r"] = ranked("agb")
    runs["reversed"]["s"] = ranked("agb")
    # with_gold_at derives scores from ranks, so that they move like the ranks.
    result = sicr(**runs, gold={"q": "g", "r": "g", "s": "g"})

    assert (result.value, result.n) == (0.5, 2)
    assert result.by_query == {"q": 1, "r": 0, "s": None}
    assert "the original run lacks 1 query (s)" in result.warnings
    assert "computed on 2 of 3 queries" in result.warnings
