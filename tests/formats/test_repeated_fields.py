"""A field that occurs twice in one JSON object is refused by all readers of JSON."""

from __future__ import annotations

import pytest

from formats.json_text import parse_json
from tests.formats.files import refusal

TWICE = "the field “relevance” occurs twice in one JSON object"


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("judgments-jsonl", '{"query_id": "1", "relevance": 1, "relevance": 2}'),
        ("pairs-jsonl", '{"query_id": "1", "narratives": [{"relevance": 1, "relevance": 1}]}'),
        ("docs-jsonl", '{"doc_id": "d", "relevance": "a", "relevance": "b"}'),
        ("topics-json", '{"query_id": "1", "relevance": "a", "relevance": "b"}'),
        ("multi-infosearch", '{"query_id": "1", "relevance": 1, "relevance": 1}'),
        ("rubric-json", '{"name": "ours", "relevance": 1, "relevance": 1}'),
    ],
)
def test_a_field_that_occurs_twice_is_refused_with_its_line(name, line):
    error = refusal(name, f"{line}\n")

    assert (error.line, error.message) == (1, TWICE)


def test_a_field_that_occurs_twice_within_a_list_is_refused():
    error = refusal("topics-json", '[\n{"id": "1", "relevance": 1, "relevance": 1}\n]\n')

    assert error.message == TWICE


def test_the_same_field_in_two_objects_is_read():
    assert parse_json('[{"a": 1}, {"a": {"a": 2}}]') == [{"a": 1}, {"a": {"a": 2}}]
