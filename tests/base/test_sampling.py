"""The same seed draws the same sample on any machine; impossible samples are refused."""

from __future__ import annotations

import hashlib
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from base.sampling import CannotDraw, draw, place

LETTERS = list("abcdefghij")
strata = st.dictionaries(
    st.text(max_size=3),
    st.sets(st.text(max_size=4), min_size=3, max_size=9),
    min_size=1,
    max_size=4,
)


def test_names_are_ordered_by_their_digests():
    by_hand = sorted(
        LETTERS, key=lambda x: hashlib.blake2b(f"7:{x}".encode(), digest_size=16).hexdigest()
    )

    assert draw({"": LETTERS}, size=10, seed=7) == {"": by_hand}


def test_the_same_seed_always_draws_the_same_names():
    assert draw({"": LETTERS}, size=4, seed=7) == {"": ["i", "b", "c", "a"]}
    assert draw({"": LETTERS}, size=4, seed=8) == {"": ["c", "j", "d", "h"]}


@given(strata, st.integers(0, 2**63))
def test_neither_the_order_of_the_frame_nor_another_stratum_matters(frame, seed):
    together = draw(frame, size=3, seed=seed)

    for stratum, names in frame.items():
        assert draw({stratum: sorted(names, reverse=True)}, size=3, seed=seed) == {
            stratum: together[stratum]
        }


@given(strata, st.integers(0, 2**63))
def test_each_stratum_gives_its_own_names_and_a_larger_sample_contains_a_smaller_one(frame, seed):
    drawn, smaller = draw(frame, size=3, seed=seed), draw(frame, size=2, seed=seed)

    for stratum, names in frame.items():
        assert len(drawn[stratum]) == len(set(drawn[stratum])) == 3
        assert set(drawn[stratum]) <= names
        assert drawn[stratum][:2] == smaller[stratum]


def test_every_name_is_drawn_about_equally_often():
    times = Counter(
        name for seed in range(2_000) for name in draw({"": LETTERS}, size=3, seed=seed)[""]
    )

    # 600 expected, with a standard deviation of 20.
    assert all(500 < times[letter] < 700 for letter in LETTERS)


def test_different_names_have_different_sort_keys():
    assert place(1, "1:a") != place(11, "a")
    assert place(1, "a") != place(2, "a")


@pytest.mark.parametrize(
    ("frame", "size", "sentence"),
    [
        ({"": LETTERS}, 0, "Draw at least one."),
        ({}, 1, "There is nothing to draw from."),
        ({"C1": [], "C2": []}, 1, "There is nothing to draw from."),
        (
            {"": LETTERS},
            11,
            (
                "There are 10 to draw from, fewer than the 11 asked for."
                " Ask for fewer, or take what there is."
            ),
        ),
        (
            {"C1": LETTERS, "C2": []},
            2,
            ("Fewer than the 2 asked for: “C2” has none. Ask for fewer, or take what there is."),
        ),
        (
            {"C1": ["b", "c"], "C2": ["a"], "C3": []},
            3,
            (
                "Fewer than the 3 asked for: “C3” has none, “C2” has 1, “C1” has 2."
                " Ask for fewer, or take what there is."
            ),
        ),
        (
            {f"C{number:02}": [] for number in range(22)} | {"S": ["a"]},
            1,
            (
                "Fewer than the 1 asked for: "
                + ", ".join(f"“C{number:02}” has none" for number in range(20))
                + ", and 2 more. Ask for fewer, or take what there is."
            ),
        ),
    ],
)
def test_an_impossible_sample_is_refused_with_a_sentence(frame, size, sentence):
    with pytest.raises(CannotDraw) as refused:
        draw(frame, size=size, seed=1)

    assert str(refused.value) == sentence


def test_an_empty_stratum_is_refused_with_the_reason_why_it_is_empty():
    with pytest.raises(CannotDraw, match=r"“C2” has none \(nobody claims it\)\."):
        draw({"C1": LETTERS, "C2": []}, size=2, seed=1, why_empty={"C2": "nobody claims it"})


def test_a_small_stratum_gives_all_it_has_if_fewer_is_allowed():
    drawn = draw({"C1": LETTERS, "C2": ["z"], "C3": []}, size=2, seed=1, fewer=True)

    assert {stratum: len(names) for stratum, names in drawn.items()} == {"C1": 2, "C2": 1, "C3": 0}
