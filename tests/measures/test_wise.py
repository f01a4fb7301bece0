from __future__ import annotations

from math import sqrt
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import measures

from .rankings import ranked, three_modes, with_gold_at

wise: Any = measures.wise  # tests also pass arguments that the types forbid
RANKS = st.integers(1, 39)


def measured(original, instructed, reverse, **options):
    runs = three_modes(original, instructed, reverse)
    return wise(**runs, **{"gold": {"q": "g"}, "interval": None, **options})


@pytest.mark.parametrize(
    ("original", "instructed", "reverse", "value"),
    [
        (5, 1, 6, 1 - 4 / 20),
        (5, 4, 6, (1 - 1 / 20) / 2),
        (4, 4, 6, 1 / 2),
        (1, 1, 2, 1),
        (21, 1, 30, 0.01),
        (5, 10, 2, -1),
        (5, 10, 7, -1 / 2),
        (5, 10, 5, -1 / 2),
        (5, 2, 4, -1 / 5),
        (5, 2, 5, 0),
        (5, 5, 2, 0),
        (5, 5, 5, 0),
    ],
)
def test_wise_rewards_and_penalties_are_those_of_the_paper(original, instructed, reverse, value):
    assert measured(original, instructed, reverse).value == pytest.approx(value, abs=1e-12)


def test_a_document_among_the_first_n_gets_1_at_rank_1():
    assert measured(4, 1, 6, N=4).value == 1
    assert measured(4, 1, 6, N={"q": 3}).value == pytest.approx(1 - 3 / 20)
    assert measured(4, 2, 6, N=4).value == pytest.approx((1 - 2 / 20) / sqrt(2))


@pytest.mark.parametrize(
    ("variant", "ranks", "n", "value"),
    [
        ("source", (5, 1, 6), 1, 1 - sqrt(4) / 20),
        ("source", (4, 1, 6), 4, 1 - sqrt(3) / 20),
        ("source", (3, 1, 6), 4, 1),
        ("source", (5, 10, 2), 1, -1),
        ("wheel", (5, 1, 6), 1, 1 - 4 / 20),
        ("wheel", (4, 1, 6), 4, 1 - 3 / 20),
        ("wheel", (5, 10, 2), 1, -1 / 2),
    ],
)
def test_published_variants_differ_where_their_code_does(variant, ranks, n, value):
    assert measured(*ranks, N=n, variant=variant).value == pytest.approx(value, abs=1e-12)


def test_single_options_replace_those_of_the_variant():
    assert measured(4, 1, 6, N=4, strict=True).value == pytest.approx(1 - 3 / 20)
    assert measured(5, 1, 6, reward="root_of_share").value == pytest.approx(1 - sqrt(4 / 20))
    assert measured(5, 1, 6, K=10).value == pytest.approx(1 - 4 / 10)
    assert measured(5, 5, 2, overlap="worst").value == pytest.approx(-3 / 5)


def test_several_gold_documents_count_by_their_mean():
    runs = {
        "original": {"q": ranked("xgh")},
        "instructed": {"q": ranked("gxh")},
        "reversed": {"q": ranked("xhg")},
    }

    # g: 1 - 1/20. h: R_rev = 2 < R_ori = 3 = R_ins, the first penalty that applies is 0.
    assert wise(**runs, gold={"q": ["g", "h"]}, N=1).value == pytest.approx(0.95 / 2)


def test_a_missing_document_ranks_after_the_last_or_is_left_out():
    runs = three_modes(2, 1, 3)
    runs["reversed"] = {"q": ranked("abc")}

    after_last = wise(**runs, gold={"q": "g"})
    left_out = wise(**runs, gold={"q": "g"}, missing="left_out")

    assert after_last.value == 0.95
    assert after_last.warnings == ("the reversed run lacks 1 document (g), ranked after the last",)
    assert left_out.reason == "undefined: no query with a gold document is in all three runs"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"K": 0}, "K is 0; give 1 or more"),
        ({"N": 0}, "N is 0; give 1 or more"),
        ({"N": {"r": 1}}, "N has no number for query q; give one number or one per query"),
        ({"variant": "notebook"}, "variant is 'paper' or 'source' or 'wheel', not 'notebook'"),
    ],
)
def test_options_that_do_not_fit_are_refused(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        measured(5, 1, 6, **options)


@pytest.mark.parametrize("original", [1, 2, 8, 16])
def test_a_rise_to_rank_1_is_the_best_that_a_document_up_to_rank_16_can_do(original):
    best = measured(original, 1, original + 1).value

    assert all(measured(original, ins, 40).value <= best for ins in range(1, original + 1))


def test_from_rank_17_on_staying_gets_more_than_rising_to_rank_1():
    # By the paper's formula: 1/sqrt(17) = 0.2425 against 1 - 16/20 = 0.2.
    assert measured(17, 17, 18).value == pytest.approx(1 / sqrt(17))
    assert measured(17, 1, 18).value == pytest.approx(0.2)


@settings(max_examples=15)
@given(RANKS, RANKS, RANKS)
def test_values_are_from_minus_1_to_1_and_a_document_that_stays_gets_0(first, second, third):
    assert -1 <= measured(first, second, third).value <= 1
    assert measured(first, first, first).value == 0
    if first > 1:
        assert measured(first, first - 1, first + 1).value > 0
        assert measured(first, first + 1, first - 1).value == -1


def test_the_order_of_queries_and_the_scale_of_scores_change_nothing():
    ranks = {"q": (5, 1, 6), "r": (5, 10, 2), "s": (4, 3, 9)}

    def of(queries, factor=1.0):
        runs = {
            mode: {
                q: {d: s * factor for d, s in with_gold_at(ranks[q][place]).items()}
                for q in queries
            }
            for place, mode in enumerate(("original", "instructed", "reversed"))
        }
        return wise(**runs, gold=dict.fromkeys(queries, "g"))

    assert of("qrs").value == of("srq").value == of("qrs", 3.7).value
    assert of("qrs").interval == of("srq").interval
