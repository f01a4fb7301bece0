"""A prompt is a text with listed variables, and nothing that is executed."""

from __future__ import annotations

import pytest

from llm.prompts import Prompt, PromptError

REQUIRED = frozenset({"query", "document"})


def prompt(text):
    return Prompt(text, REQUIRED)


def test_variables_are_replaced_wherever_they_occur():
    filled = prompt("{query}: {document} ({query})").fill(query="tides", document="The sea.")

    assert filled == "tides: The sea. (tides)"


def test_braces_around_anything_else_are_text():
    text = 'Answer {"grade": {"level": 2}}, {}, { query }, {0}. {query} {document}'

    filled = prompt(text).fill(query="q", document="d")

    assert filled == 'Answer {"grade": {"level": 2}}, {}, { query }, {0}. q d'


def test_a_variable_in_a_value_is_not_replaced():
    filled = prompt("{query} {document}").fill(query="{document}", document="secret \\1 {query}")

    assert filled == "{document} secret \\1 {query}"


@pytest.mark.parametrize("name", ["query.__class__", "query!r", "query:>9", "query[0]"])
def test_nothing_of_a_value_can_be_reached(name):
    text = f"{{query}} {{document}} {{{name}}}"

    assert prompt(text).fill(query="q", document="d") == f"q d {{{name}}}"


def test_an_unknown_variable_is_an_error_with_its_place():
    with pytest.raises(PromptError) as refused:
        prompt("{query}\n{document} of {Query}")

    assert str(refused.value) == (
        "Line 2, column 15: {Query} is no variable of this prompt. It has {document}, {query}."
    )


def test_a_required_variable_that_does_not_occur_is_an_error_with_its_place():
    with pytest.raises(PromptError) as refused:
        prompt("{query}\n\n")

    assert str(refused.value) == "The prompt ends (line 3) without {document}."


@pytest.mark.parametrize("values", [{"query": "q"}, {"query": "q", "document": "d", "more": "m"}])
def test_other_values_than_the_variables_are_an_error(values):
    with pytest.raises(ValueError, match=r"filled with \{document\}, \{query\}"):
        prompt("{query} {document}").fill(**values)


def test_a_prompt_names_its_variables():
    assert prompt("{query} {document}").variables == REQUIRED
