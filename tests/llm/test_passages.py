"""A long text is divided into passages, which are together the whole text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm.documents import passages


def test_a_text_that_fits_is_one_passage():
    assert passages("The tide rises. It falls.", 25) == ["The tide rises. It falls."]


@pytest.mark.parametrize(
    ("text", "most", "expected"),
    [
        # Where two sentences end, passages are of about the same length.
        ("One. Two. Six. Ten. Nil.", 20, ["One. Two.", " Six. Ten. Nil."]),
        ("A heading\nand a line\nand more", 20, ["A heading\n", "and a line\nand more"]),
        ("潮が満ちる。潮が引く。月による。", 12, ["潮が満ちる。", "潮が引く。月による。"]),
        # Without the end of a sentence, after a word, or else inside one.
        ("the tide rises and falls", 20, ["the tide", " rises and falls"]),
        ("a" * 30, 12, ["a" * 7, "a" * 8, "a" * 7, "a" * 8]),
    ],
)
def test_passages_end_with_sentences_if_possible(text, most, expected):
    assert passages(text, most) == expected


@given(st.text(st.sampled_from("ab .\n。”")), st.integers(1, 40))
def test_passages_are_the_whole_text_and_none_is_longer_than_allowed(text, most):
    divided = passages(text, most)

    assert "".join(divided) == text
    assert all(len(passage) <= most for passage in divided)
    assert all(divided) or divided == [""]


@given(st.text(st.sampled_from("ab .\n"), min_size=100), st.integers(20, 60))
def test_no_passage_is_a_small_rest(text, most):
    shortest = min(map(len, passages(text, most)))

    assert shortest * 8 >= most


def test_nothing_cannot_be_a_passage():
    with pytest.raises(ValueError, match="at least 1 character"):
        passages("a", 0)
