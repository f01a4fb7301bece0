"""Words of the query and of the change are found in a document, in all their forms."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.collection.marking import NO_WORDS, find_marks, select_words


def words_of(text: str, query: str = "", original: str = "", altered: str = ""):
    """Return the marked words of the query, and those of the change."""
    found = find_marks(text, select_words(query=query, original=original, altered=altered))
    return [text[a:b] for a, b in found.query], [text[a:b] for a, b in found.change]


def test_the_words_of_the_query_are_marked_in_all_their_forms():
    assert words_of("The Plant's tides; planting. PLANTS power a tide", "tidal plants: power") == (
        ["Plant's", "planting", "PLANTS", "power"],
        [],
    )


def test_words_that_only_the_altered_narrative_has_are_those_of_the_change():
    query, change = words_of(
        "Rivers and seas drive the plants.",
        query="plants",
        original="Any plant on rivers is relevant.",
        altered="Only plants in the sea are relevant, those on land are not.",
    )

    assert (query, change) == (["plants"], ["seas"])


def test_a_word_of_the_query_is_never_one_of_the_change():
    query, change = words_of("tides", query="tides", original="Any.", altered="Only tides.")

    assert (query, change) == (["tides"], [])


@pytest.mark.parametrize(("original", "altered"), [("", "Only the sea."), ("The sea.", "")])
def test_there_is_no_change_without_two_narratives(original, altered):
    assert words_of("the sea", "", original, altered) == ([], [])


def test_stop_words_are_left_out():
    assert words_of("what is the of in a power", "what is the power of a") == (["power"], [])


def test_words_about_relevance_itself_are_left_out_of_the_change():
    assert words_of(
        "A relevant document mentions tides.",
        original="Tides.",
        altered="Tides. A document that mentions Brest is relevant.",
    ) == ([], [])


def test_single_letters_are_not_marked():
    assert words_of("vitamin c and c", "vitamin c") == (["vitamin"], [])


def test_russian_words_are_found_in_all_their_forms():
    assert words_of("Приливные станции у моря", "приливная станция") == (
        ["Приливные", "станции"],
        [],
    )


def test_words_of_other_scripts_are_found_in_the_same_form_in_any_case():
    assert words_of("ΕΝΕΡΓΕΙΑ του נהר والمد المد", "ενεργεια المد") == (["ΕΝΕΡΓΕΙΑ", "المد"], [])


def test_an_arabic_word_with_its_vowels_is_one_word():
    assert words_of("مَدّ وجزر", "مَدّ") == (["مَدّ"], [])


def test_chinese_is_marked_by_runs_of_letters_of_the_query():
    assert words_of("中国的潮汐发电站位于海边", "潮汐能发电") == (["潮汐发电"], [])


def test_the_change_of_a_chinese_narrative_is_marked():
    assert words_of(
        "电站建在海上,包括河口。", query="电站", original="任何电站。", altered="只有海上的电站。"
    ) == (["电站"], ["海上"])


def test_a_run_of_the_change_that_overlaps_the_query_is_not_marked():
    assert words_of("潮汐发电站", query="发电", original="任何。", altered="海上电站") == (
        ["发电"],
        [],
    )


def test_a_single_chinese_character_of_the_query_is_marked():
    assert words_of("喝茶", "茶") == (["茶"], [])


def test_thai_and_japanese_are_marked_by_runs_of_letters():
    assert words_of("พลังงานน้ำขึ้นน้ำลง", "พลังงาน") == (["พลังงาน"], [])
    assert words_of("エネルギーと発電所", "エネルギー 発電") == (["エネルギー", "発電"], [])


def test_offsets_count_code_points():
    found = find_marks("🌊 tide", select_words(query="tide", original="", altered=""))

    assert found.query == [(2, 6)]


def test_nothing_wanted_marks_nothing():
    assert find_marks("tide", NO_WORDS) == ([], [])


LETTERS = st.text("ab c'’-🌊潮汐能 ـَمдуエはก\r\n", max_size=60)


@given(LETTERS, LETTERS, LETTERS, LETTERS)
def test_marks_are_inside_the_text_ordered_and_disjoint(text, query, original, altered):
    found = find_marks(text, select_words(query=query, original=original, altered=altered))

    for spans in found:
        assert all(0 <= start < end <= len(text) for start, end in spans)
    together = sorted([*found.query, *found.change])
    assert all(end <= start for (_, end), (start, _) in pairwise(together))
    assert found.query == sorted(found.query)
    assert found.change == sorted(found.change)


@given(st.text("aàb's ,.7\n", max_size=60), st.text("aàb's ", max_size=20))
def test_marks_begin_and_end_at_the_edges_of_words(text, query):
    for start, end in find_marks(text, select_words(query=query, original="", altered="")).query:
        assert text[start].isalnum()
        assert start == 0 or not text[start - 1].isalnum()
        assert end == len(text) or not text[end].isalnum()


@given(st.lists(st.sampled_from(["tide", "tides", "power", "of", "sea"]), max_size=12))
def test_exactly_the_words_of_the_query_are_marked(words):
    text = " ".join(words)

    found = find_marks(text, select_words(query="tide", original="", altered=""))

    assert [text[a:b] for a, b in found.query] == [w for w in words if w in {"tide", "tides"}]
