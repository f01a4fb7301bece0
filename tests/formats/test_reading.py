from __future__ import annotations

import pytest

from formats.reading import (
    SeenKeys,
    normalize_line_ends,
    one_line,
    parse_relevance,
    strip_lines,
    unescape,
)
from formats.texts import check_id


@pytest.mark.parametrize(
    ("value", "relevance"),
    [("2", 2), ("-2", -2), ("+1", 1), ("16", 16), ("1.0", 1), (" 0 ", 0), (3, 3), (2.0, 2)],
)
def test_whole_numbers_are_relevance(value, relevance):
    parsed = parse_relevance(value)

    assert (parsed, type(parsed)) == (relevance, int)


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("0.4", "the relevance 0.4 is a fraction"),
        (0.8667, "the relevance 0.8667 is a fraction"),
        ("", "the relevance is empty; leave the line out if nobody judged"),
        ("two", "the relevance 'two' is not a whole number"),
        ("1e3", "the relevance '1e3' is not a whole number"),
        ("٣", "the relevance '٣' is not a whole number"),
        (True, "the relevance must be a whole number, not true or false"),
        (None, "the relevance must be a whole number, not null"),
        (40_000, "the relevance 40000 is out of range"),
        ("9" * 400, "the relevance 999"),
        (10**30, "the relevance 1000"),
    ],
)
def test_anything_else_is_refused_with_a_sentence(value, sentence):
    with pytest.raises(ValueError) as caught:
        parse_relevance(value)

    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize("value", ["051", "Ab/c:d#1.txt", "é", "a\u200db"])
def test_ids_are_kept_byte_for_byte(value):
    assert check_id(value, "doc_id") == value


@pytest.mark.parametrize("value", ["", " a", "a b", "a\tb", "a\fb", "a\x85b", "\x07", "\ud800"])
def test_invalid_ids_are_refused(value):
    with pytest.raises(ValueError, match="doc_id"):
        check_id(value, "doc_id")


def test_a_key_seen_before_gives_its_line():
    seen = SeenKeys()

    assert [seen.first_line("a", 1), seen.first_line("b", 2), seen.first_line("a", 3)] == [
        None,
        None,
        1,
    ]
    assert [seen.is_repeated("c"), seen.is_repeated("c")] == [False, True]


def test_keys_beyond_the_window_are_forgotten():
    seen = SeenKeys(window=2)

    assert [seen.first_line(key, line) for line, key in enumerate("abca")] == [None] * 4


@pytest.mark.parametrize(
    ("text", "resolved"),
    [
        ("AT&amp;T", "AT&T"),
        ("&lt;&gt;&quot;&apos;", "<>\"'"),
        ("&#65;&#x42;", "AB"),
        ("a&hyph;b&blank;c", "a-b c"),
        ("&eacute;", "é"),
        ("?a=1&copy=2", "?a=1&copy=2"),
        ("AT&T; &nosuch;", "AT&T; &nosuch;"),
        ("&#0; &#55296; &#9999999;", "&#0; &#55296; &#9999999;"),
        ("&amp;lt;", "&lt;"),
    ],
)
def test_character_references_are_resolved_once(text, resolved):
    assert unescape(text) == resolved


def test_layout_is_removed_from_a_text():
    assert strip_lines("\n  a \n\n b\t\n\n") == "a\n\nb"
    assert one_line(" a \n b") == "a b"
    assert normalize_line_ends("a\r\nb\rc\n") == "a\nb\nc\n"
