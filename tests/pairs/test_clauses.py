"""A narrative is cut into clauses without losing text."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.collection.marking import Span
from annotate.pairs.clauses import DiffPart, clauses, overlapping_clauses, split_diff
from base.word_diff import Op, diff


def words(text: str) -> list[str]:
    return [text[start:end] for start, end in clauses(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Plants count. Plans do not.", ["Plants count.", "Plans do not."]),
        (
            "Plants at sea count, but not those on rivers; pilots do.",
            ["Plants at sea count,", "but not those on rivers;", "pilots do."],
        ),
        # A comma in an enumeration opens no clause.
        ("Dams, mills and locks count.", ["Dams, mills and locks count."]),
        ("- Only after 1990.\n- At 3.5 million", ["- Only after 1990.", "- At 3.5 million"]),
        ("Built\nby hand.", ["Built\nby hand."]),
        ("Counted by Dr. Smith of the U.S. Navy.", ["Counted by Dr. Smith of the U.S. Navy."]),
        (
            "See no. 5 there. The answer is no. Go.",
            ["See no. 5 there.", "The answer is no.", "Go."],
        ),
        ("He said “yes.” It counts.", ["He said “yes.”", "It counts."]),
        (
            "相关文件描述海上发电站，但不包括河流。计划不算；试点可以",
            ["相关文件描述海上发电站，", "但不包括河流。", "计划不算；", "试点可以"],
        ),
        (
            "مستندات عن محطات في البحر، لكن ليس في الأنهار؟ نعم.",
            ["مستندات عن محطات في البحر،", "لكن ليس في الأنهار؟", "نعم."],
        ),
        ("", []),
        (" \n ", []),
    ],
)
def test_a_narrative_is_cut_where_a_clause_ends(text, expected):
    assert words(text) == expected


def test_clause_offsets_are_code_points():
    text = "🌊 𠀀 counts. Rivers do not."

    assert clauses(text) == [Span(0, 11), Span(12, 26)]


@given(st.text(alphabet='ab Z.;,!?\n。；，-1"”)e', max_size=80))
def test_every_nonblank_character_is_in_exactly_one_clause(text):
    found = clauses(text)

    together = "".join(text[start:end] for start, end in found)
    assert "".join(together.split()) == "".join(text.split())
    for start, end in found:
        assert text[start:end] == text[start:end].strip() != ""
    assert all(one.end <= other.start for one, other in pairwise(found))


def test_overlapping_clauses_are_found_for_marked_spans():
    spans = [Span(0, 10), Span(11, 20), Span(21, 30)]

    assert overlapping_clauses(spans, [Span(11, 20)]) == [1]
    assert overlapping_clauses(spans, [Span(9, 22)]) == [0, 1, 2]
    # A span that only touches the end of a clause does not overlap it.
    assert overlapping_clauses(spans, [Span(10, 11)]) == []


def test_a_change_is_cut_at_the_clauses_it_runs_through():
    before, after = "Any plant counts.", "Any plant counts. Plans do not."
    spans = clauses(after)

    assert split_diff(diff(before, after), spans) == [
        DiffPart(0, Op.KEPT, "Any plant counts."),
        DiffPart(None, Op.ADDED, " "),
        DiffPart(1, Op.ADDED, "Plans do not."),
    ]


def test_removed_text_belongs_to_the_clause_around_it():
    before, after = "Plants on rivers count. Old ones too. Plans.", "Plants count. Plans."

    cut = split_diff(diff(before, after), clauses(after))

    assert [one for one in cut if one.op is Op.REMOVED] == [
        DiffPart(0, Op.REMOVED, " on rivers"),
        DiffPart(None, Op.REMOVED, "Old ones too. "),
    ]


@given(
    st.text(alphabet="ab .;,\n🌊", max_size=40),
    st.text(alphabet="ab .;,\n🌊", max_size=40),
)
def test_the_parts_of_both_texts_are_the_texts(before, after):
    spans = clauses(after)
    cut = split_diff(diff(before, after), spans)

    assert "".join(one.text for one in cut if one.op is not Op.REMOVED) == after
    assert "".join(one.text for one in cut if one.op is not Op.ADDED) == before
    for number, (start, end) in enumerate(spans):
        mine = [one.text for one in cut if one.clause == number and one.op is not Op.REMOVED]
        assert "".join(mine) == after[start:end]
