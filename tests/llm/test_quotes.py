"""A quoted passage must occur in the text; white space does not count."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm.documents import find_quote

TEXT = "The tide\n  rises twice\ta day.\u00a0It falls twice."


@pytest.mark.parametrize(
    ("quote", "passage"),
    [
        ("The tide rises twice", "The tide\n  rises twice"),
        ("  rises\ntwice a  day. ", "rises twice\ta day."),
        ("day. It falls", "day.\u00a0It falls"),
        ("ide ri", "ide\n  ri"),
        (TEXT, TEXT),
    ],
)
def test_a_quote_is_found_where_it_stands(quote, passage):
    place = find_quote(quote, TEXT)

    assert place is not None
    assert TEXT[slice(*place)] == passage


@pytest.mark.parametrize(
    "quote",
    ["the tide rises", "The tide rises daily", "The tiderises", "", " \n", "rises twice ... falls"],
)
def test_a_quote_that_does_not_occur_is_not_found(quote):
    assert find_quote(quote, TEXT) is None


def test_nothing_occurs_in_an_empty_text():
    assert find_quote("tide", "") is None


@given(st.text(st.sampled_from("ab \n\t\u3000")), st.data())
def test_every_passage_of_a_text_is_found_in_it(text, data):
    begin = data.draw(st.integers(0, len(text)))
    passage = text[begin : data.draw(st.integers(begin, len(text)))]

    place = find_quote(passage.replace("\n", "  "), text)

    if place is None:
        assert not passage.strip()
    else:
        assert " ".join(text[slice(*place)].split()) == " ".join(passage.split())
