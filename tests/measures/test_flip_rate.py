from __future__ import annotations

from math import nan
from typing import Any

import pytest

import measures

flip_rate: Any = measures.flip_rate  # tests also pass arguments that the types forbid


def test_flip_rate_is_the_share_of_comparisons_whose_outcome_changes():
    instruction = {"q": {0: 0.1, 1: 0.2, 2: 0.3, 3: 0.4}, "r": {0: 0.1, 1: 0.2}}
    descriptive = {"q": {0: 0.5, 1: 0.2, 2: 0.3, 3: 0.1}, "r": {0: 0.1, 1: 0.2}}

    pooled = flip_rate(instruction=instruction, descriptive=descriptive)

    assert pooled.value == 0.5
    assert pooled.by_query == {"q": pytest.approx(2 / 3), "r": 0}
    by_query = flip_rate(instruction=instruction, descriptive=descriptive, average="by_query")
    assert by_query.value == pytest.approx(1 / 3)
    assert flip_rate(instruction=instruction, descriptive=descriptive, k=1).value == 0.5
    in_words = {f"{query}n": scores for query, scores in descriptive.items()}
    linked = flip_rate(instruction=instruction, descriptive=in_words, styles={"q": "qn", "r": "rn"})
    assert linked.by_query == pooled.by_query


def test_the_same_outcomes_give_0_and_opposite_ones_1():
    ladder = {"q": {k: k / 10 for k in range(11)}}
    falling = {"q": {k: -k / 10 for k in range(11)}}

    assert flip_rate(instruction=ladder, descriptive=ladder).value == 0
    assert flip_rate(instruction=ladder, descriptive=falling).value == 1


@pytest.mark.parametrize(("options", "value"), [({}, 0.5), ({"ties": "left_out"}, 0)])
def test_a_tie_is_not_greater_or_left_out(options, value):
    result = flip_rate(
        instruction={"q": (0.5, 0.5), "r": (0.6, 0.5)},
        descriptive={"q": (0.6, 0.5), "r": (0.6, 0.5)},
        **options,
    )

    assert result.value == value


def test_a_comparison_with_nan_is_not_greater_or_left_out():
    styles = {"instruction": {"q": (nan, 0.5)}, "descriptive": {"q": (0.6, 0.5)}}

    assert flip_rate(**styles).value == 1
    assert flip_rate(**styles, nan="left_out").value is None


def test_comparisons_that_one_style_lacks_are_left_out():
    result = flip_rate(
        instruction={"q": {1: (0.2, 0.1), 2: (0.2, 0.1)}, "r": (0.2, 0.1)},
        descriptive={"q": {1: (0.1, 0.2)}},
    )

    assert (result.value, result.by_query) == (1, {"q": 1, "r": None})
    assert result.warnings == (
        "2 comparisons in 2 queries (q, r) are in one style only: left out",
        "computed on 1 of 2 queries",
    )
