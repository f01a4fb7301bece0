"""A long document is cut after a sentence, and it is said."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm.documents import cut

SENTENCES = "The tide rises. It falls. The moon causes both."


def test_a_text_that_fits_is_whole_and_nothing_is_said():
    kept = cut(SENTENCES, len(SENTENCES))

    assert (kept.text, kept.note) == (SENTENCES, "")


def test_a_text_is_cut_after_the_last_sentence_that_fits():
    kept = cut(SENTENCES, 40)

    assert kept.text == "The tide rises. It falls."
    assert kept.note == "Only the first 25 of 47 characters, cut at the end of a sentence."


@pytest.mark.parametrize(
    ("text", "most", "kept"),
    [
        ("It rose 3.5 metres. Then it fell.", 25, "It rose 3.5 metres."),
        ('He said “it rises.” Then he "left."', 30, "He said “it rises.”"),
        ("潮が満ちる。潮が引く。月による。", 12, "潮が満ちる。潮が引く。"),
        ("A heading\nand a line without end", 15, "A heading"),
        ("Does it rise? Yes, it does rise.", 20, "Does it rise?"),
        ("The tide rises. It falls.", 15, "The tide rises."),
    ],
)
def test_sentences_end_as_people_write_them(text, most, kept):
    assert cut(text, most).text == kept


def test_without_the_end_of_a_sentence_it_is_cut_after_a_word():
    kept = cut("the tide rises and falls and rises", 20)

    assert kept.text == "the tide rises and"
    assert kept.note == "Only the first 18 of 34 characters, cut after a word."


def test_a_sentence_that_would_leave_less_than_half_is_not_where_it_is_cut():
    assert (
        cut("Yes. the tide rises and falls and rises", 30).text == "Yes. the tide rises and falls"
    )


def test_a_word_that_is_too_long_is_cut_inside():
    kept = cut("a" * 100, 10)

    assert kept.text == "a" * 10
    assert kept.note == "Only the first 10 of 100 characters, cut inside a word."


@given(st.text(st.sampled_from("ab .\n。”")), st.integers(1, 40))
def test_what_is_kept_is_a_beginning_that_fits(text, most):
    kept = cut(text, most)

    assert text.startswith(kept.text)
    assert len(kept.text) <= most
    assert bool(kept.note) == (kept.text != text)


def test_nothing_cannot_be_kept():
    with pytest.raises(ValueError, match="less than 1 character"):
        cut("a", 0)
