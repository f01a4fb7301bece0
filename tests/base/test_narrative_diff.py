"""The word diff of two narratives shows what was removed and added, and loses no character."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from base.word_diff import Op, before_pieces, diff

KEPT, REMOVED, ADDED = Op.KEPT, Op.REMOVED, Op.ADDED


def test_equal_texts_have_one_kept_piece():
    assert diff("Any plant counts.", "Any plant counts.") == [(KEPT, "Any plant counts.")]


def test_a_changed_word_is_marked_alone():
    assert diff("Any plant counts.", "No plant counts.") == [
        (REMOVED, "Any"),
        (ADDED, "No"),
        (KEPT, " plant counts."),
    ]


def test_neighbouring_changes_read_as_one():
    assert diff("a big old plant", "a small new plant") == [
        (KEPT, "a "),
        (REMOVED, "big old"),
        (ADDED, "small new"),
        (KEPT, " plant"),
    ]


def test_an_added_sentence_is_one_piece():
    assert diff("All count.", "All count. Barrages do not.") == [
        (KEPT, "All count."),
        (ADDED, " Barrages do not."),
    ]


def test_everything_is_added_to_an_empty_text():
    assert diff("", "At sea.") == [(ADDED, "At sea.")]
    assert diff("At sea.", "") == [(REMOVED, "At sea.")]


WORDS = st.lists(st.sampled_from(["sea", "plant", " ", "  ", "\n", ".", "潮", "مد"]), max_size=12)


@given(WORDS, WORDS)
def test_both_texts_can_be_read_back(before, after):
    old, new = "".join(before), "".join(after)

    pieces = diff(old, new)

    assert "".join(piece.text for piece in before_pieces(pieces)) == old
    assert "".join(piece.text for piece in pieces if piece.op is not REMOVED) == new


def test_long_narratives_are_compared_by_sentence_and_by_words_within_what_changed():
    sentences = [f"Document {number} counts. " for number in range(3_000)]
    before = "".join(sentences)
    after = before.replace("Document 1500 counts.", "Document 1500 never counts.")

    pieces = diff(before, after)

    assert [piece for piece in pieces if piece.op is not KEPT] == [(ADDED, "never ")]
    assert "".join(piece.text for piece in pieces) == after
