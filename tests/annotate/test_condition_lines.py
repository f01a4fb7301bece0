"""Conditions as they are typed; no database here."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.condition_lines import read, write


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("at sea", [("", "at sea")]),
        ("place: at sea\n\n  in   use  \r\n", [("place", "at sea"), ("", "in use")]),
        (": ratio: 2 to 1", [("", "ratio: 2 to 1")]),
        ("built at 10:30", [("", "built at 10:30")]),
        (f"{'x' * 121}: y", [("", f"{'x' * 121}: y")]),
        ("", []),
    ],
)
def test_one_condition_a_line(text, expected):
    assert read(text) == expected


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("at sea\nin use\nAT SEA", "Line 3 says the same as line 1"),
        ("place: at sea\nwhere: at sea", "Line 2 says the same as line 1"),
        ("\n".join(map(str, range(21))), "These are 21 conditions; at most 20"),
        ("x" * 2_001, "line 1 has 2,001 characters"),
    ],
)
def test_what_no_judge_could_answer_is_refused(text, sentence):
    with pytest.raises(ValueError, match=sentence):
        read(text)


words = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=20)


pairs = st.lists(
    st.tuples(st.just("") | words, words), max_size=5, unique_by=lambda one: one[1].casefold()
)


@given(pairs)
def test_what_is_written_is_read_back(conditions):
    assert read(write(conditions)) == conditions
