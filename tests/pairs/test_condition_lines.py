"""Conditions as people type them; without a database."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.pairs.condition_lines import InvalidLines, read, write


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
def test_conditions_are_read_one_per_line(text, expected):
    assert read(text) == expected


@pytest.mark.parametrize(
    ("text", "invalid"),
    [
        ("at sea\nin use\nAT SEA", {"line": 3, "other": 1, "length": 0}),
        ("place: at sea\nwhere: at sea", {"line": 2, "other": 1, "length": 0}),
        ("\n".join(map(str, range(21))), {"line": 0, "other": 0, "length": 21}),
        ("in use\n" + "x" * 2_001, {"line": 2, "other": 0, "length": 2_001}),
    ],
)
def test_invalid_conditions_are_refused(text, invalid):
    with pytest.raises(InvalidLines) as refused:
        read(text)

    assert vars(refused.value) == invalid


words = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=20)


pairs = st.lists(
    st.tuples(st.just("") | words, words), max_size=5, unique_by=lambda one: one[1].casefold()
)


@given(pairs)
def test_written_conditions_are_read_back(conditions):
    assert read(write(conditions)) == conditions
