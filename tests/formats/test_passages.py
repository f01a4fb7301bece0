"""A text is cut into overlapping passages whose ids contain the id of their document."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.passages import cut_passages, document_of, excerpts, passage_id

TEN = " ".join(f"w{n}" for n in range(1, 11))


def parts(text, **size):
    return [text[one.start : one.end] for one in cut_passages(text, **size)]


def test_each_passage_repeats_the_overlap_of_the_one_before():
    assert parts(TEN, words=4, overlap=2) == [
        "w1 w2 w3 w4",
        "w3 w4 w5 w6",
        "w5 w6 w7 w8",
        "w7 w8 w9 w10",
    ]


def test_the_last_passage_may_be_shorter():
    assert parts(TEN, words=4, overlap=0) == ["w1 w2 w3 w4", "w5 w6 w7 w8", "w9 w10"]


def test_a_passage_has_400_words_and_an_overlap_of_200_by_default():
    text = " ".join(["word"] * 1_000)

    assert [len(part.split()) for part in parts(text)] == [400, 400, 400, 400]


def test_a_short_or_empty_text_is_one_passage():
    assert parts("two words", words=4, overlap=2) == ["two words"]
    assert parts("", words=4, overlap=2) == [""]


def test_a_passage_is_a_slice_of_the_text_with_its_white_space():
    assert parts("  a\n\n b   c  d ", words=2, overlap=0) == ["a\n\n b", "c  d"]


def test_at_sentences_a_passage_begins_and_ends_with_a_sentence():
    text = "One two. Three four five! Six seven? Eight."

    assert parts(text, words=5, overlap=2, at_sentences=True) == [
        "One two. Three four five!",
        "Six seven? Eight.",
    ]
    assert parts(text, words=5, overlap=3, at_sentences=True) == [
        "One two. Three four five!",
        "Three four five! Six seven?",
        "Six seven? Eight.",
    ]


def test_a_sentence_longer_than_a_passage_is_cut_by_words():
    assert parts("a b c d e. f.", words=2, overlap=0, at_sentences=True) == [
        "a b",
        "c d",
        "e. f.",
    ]


def test_chinese_counts_characters_as_words():
    assert parts("潮汐发电站", words=2, overlap=0) == ["潮汐", "发电", "站"]


@pytest.mark.parametrize(("words", "overlap"), [(0, 0), (4, 4), (4, -1)])
def test_passages_that_would_not_advance_are_refused(words, overlap):
    with pytest.raises(ValueError, match=r"[Pp]assage"):
        cut_passages(TEN, words=words, overlap=overlap)


@pytest.mark.parametrize("doc_id", ["FT911-3", "a_3", "a_3_1", "x_", "_1"])
def test_the_id_of_a_passage_gives_its_document_for_any_document_id(doc_id):
    assert document_of(passage_id(doc_id, 12)) == doc_id


@given(
    st.text(st.sampled_from("ab. \n潮"), max_size=80),
    st.integers(1, 6),
    st.integers(0, 5),
    st.booleans(),
)
def test_every_word_of_a_text_is_in_a_passage(text, words, overlap, at_sentences):
    overlap = min(overlap, words - 1)
    found = cut_passages(text, words=words, overlap=overlap, at_sentences=at_sentences)

    covered = set().union(*(range(one.start, one.end) for one in found))
    assert {at for at, letter in enumerate(text) if not letter.isspace()} <= covered
    assert [one.number for one in found] == list(range(1, len(found) + 1))
    assert all(one.start < two.start for one, two in pairwise(found))


def around(text, *spans, share):
    return [text[one.start : one.end] for one in excerpts(text, spans, share=share)]


def test_passages_grow_around_the_evidence_up_to_the_share():
    # 30 characters, of which 40% are 12: "dddd" and a word on both sides are 14.
    text = "aaaa bbbb cccc dddd eeee ffff."

    assert around(text, (15, 19), share=40) == ["cccc dddd"]
    assert around(text, (15, 19), share=50) == ["cccc dddd eeee"]


def test_evidence_that_does_not_fit_is_cut_at_a_word_or_left_out():
    text = "aaaa bbbb cccc dddd eeee ffff."

    assert around(text, (0, 19), share=40) == ["aaaa bbbb"]
    assert around(text, (0, 4), (25, 29), share=14) == ["aaaa"]


def test_a_text_without_evidence_has_no_passages():
    assert around("aaaa bbbb", share=100) == []


@given(
    st.text(st.sampled_from("ab. "), max_size=60),
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=4),
    st.integers(1, 100),
)
def test_passages_around_evidence_do_not_exceed_the_share(text, spans, share):
    found = excerpts(text, spans, share=share)

    assert sum(one.end - one.start for one in found) <= len(text) * share // 100
    assert all(one.end <= two.start for one, two in pairwise(found))
