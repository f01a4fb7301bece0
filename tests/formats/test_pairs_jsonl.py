from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from formats.records import Claim, ConditionRecord, NarrativeRecord, PairRecord
from tests.formats.files import read, refusal, write_records

COMPLETE = PairRecord(
    pair_id="301_1",
    query_id="301",
    title="Harbours",
    description="Find harbours.",
    category="C2",
    origin="llm",
    model="some-model",
    narratives=(
        NarrativeRecord("original", 1, "Any harbour."),
        NarrativeRecord("altered", 1, "Sea harbours.", "ada"),
        NarrativeRecord(
            "altered",
            2,
            "Sea harbours\nonly.",
            "ben",
            datetime(2026, 3, 1, 9, tzinfo=UTC),
            "n",
            (ConditionRecord("", "At the sea."), ConditionRecord("length", "Short.")),
        ),
    ),
)


def test_a_pair_is_written_with_all_its_fields_and_read_back():
    line = write_records("pairs-jsonl", [COMPLETE])

    assert json.loads(line)["narratives"][2] == {
        "side": "altered",
        "version": 2,
        "text": "Sea harbours\nonly.",
        "author": "ben",
        "at": "2026-03-01T09:00:00+00:00",
        "note": "n",
        "conditions": [{"name": "", "text": "At the sea."}, {"name": "length", "text": "Short."}],
    }
    assert read("pairs-jsonl", line) == [COMPLETE]


def test_the_shortest_pair_has_a_query_and_a_text():
    line = '{"query_id": "301", "altered": "Sea harbours."}'

    assert read("pairs-jsonl", line) == [
        PairRecord("301", "301", narratives=(NarrativeRecord("altered", 1, "Sea harbours."),))
    ]


def test_a_pair_with_a_model_is_by_a_language_model():
    line = '{"query_id": "301", "model": "some-model", "altered": "x"}'

    assert read("pairs-jsonl", line)[0].origin == "llm"


def test_narratives_come_in_the_order_of_sides_and_versions():
    line = json.dumps(
        {
            "query_id": "1",
            "narratives": [
                {"side": "reversed", "text": "r"},
                {"side": "altered", "version": 2, "text": "a2"},
                {"side": "altered", "version": 1, "text": "a1"},
                {"side": "altered", "text": "a3"},
            ],
            "original": "o",
        }
    )

    narratives = read("pairs-jsonl", line)[0].narratives

    assert [(n.side, n.version, n.text) for n in narratives] == [
        ("original", 1, "o"),
        ("altered", 1, "a1"),
        ("altered", 2, "a2"),
        ("altered", 3, "a3"),
        ("reversed", 1, "r"),
    ]


def test_a_condition_may_be_only_a_text():
    line = json.dumps(
        {
            "query_id": "1",
            "narratives": [{"side": "altered", "text": "t", "conditions": ["a", {"text": "b"}]}],
        }
    )

    conditions = read("pairs-jsonl", line)[0].narratives[0].conditions

    assert conditions == (ConditionRecord("", "a"), ConditionRecord("", "b"))


def test_claims_are_read_beside_the_pairs():
    line = '{"type": "claim", "pair_id": "1_0", "doc_id": "d", "relevance": 1, "rater": "m"}'

    assert read("pairs-jsonl", line) == [Claim("1_0", "d", 1, "m")]


def test_a_claim_keeps_its_reason():
    claim = Claim("1_0", "d", 0, "m", "It is about lakes.")
    line = (
        '{"type": "claim", "pair_id": "1_0", "doc_id": "d", "relevance": 0, "rater": "m", '
        '"reason": "It is about lakes."}'
    )

    assert read("pairs-jsonl", line) == [claim]
    assert write_records("pairs-jsonl", [claim]).decode() == line + "\n"


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ('{"pair_id": "a"}', "query_id is missing"),
        ('{"query_id": "a", "pair_id": "a 1"}', "pair_id 'a 1' contains white space"),
        (
            '{"query_id": "a", "origin": "robot"}',
            "origin is 'robot'; it is one of human, llm",
        ),
        (
            '{"query_id": "a", "origin": "human", "model": "m"}',
            "model is 'm', but origin is human",
        ),
        (
            '{"query_id": "a", "narratives": [{"side": "left", "text": "t"}]}',
            "side is 'left'; it is one of original, altered, reversed",
        ),
        (
            '{"query_id": "a", "narratives": [{"side": "altered"}]}',
            "the text of the altered narrative is missing",
        ),
        (
            (
                '{"query_id": "a", "narratives": [{"side": "altered", "version": 1, "text": "t"}, '
                '{"side": "altered", "version": 1, "text": "u"}]}'
            ),
            "version 1 of the altered narrative occurs twice",
        ),
        (
            '{"query_id": "a", "narratives": [{"side": "altered", "version": 0, "text": "t"}]}',
            "version is 0; it is a whole number of at least 1",
        ),
        (
            '{"query_id": "a", "altered": "t", "narratives": [{"side": "altered", "text": "t"}]}',
            "the altered narrative is given both in `narratives` and beside it",
        ),
        (
            '{"query_id": "a", "narratives": [{"side": "altered", "text": "", "conditions": "c"}]}',
            "conditions must be a list, not text",
        ),
        (
            '{"query_id": "a", "narratives": [{"side": "altered", "text": "", "conditions": [1]}]}',
            "condition 1 must be an object or text, not a number",
        ),
        (
            (
                '{"query_id": "a", "narratives": [{"side": "altered", "text": "t", "conditions": '
                '["c", " "]}]}'
            ),
            "condition 2: text is empty",
        ),
        ('{"query_id": "a", "narratives": "t"}', "narratives must be a list, not text"),
        (
            '{"type": "pear", "query_id": "a"}',
            "type is 'pear'; it is one of pair, claim, generated",
        ),
        ('{"type": "claim", "pair_id": "a", "doc_id": "d"}', "relevance is missing"),
        (
            '{"type": "claim", "pair_id": "a", "doc_id": "d", "relevance": 0.5, "rater": "m"}',
            "the relevance 0.5 is a fraction; relevance is a whole number",
        ),
    ],
)
def test_bad_pairs_are_refused_with_a_sentence(line, sentence):
    error = refusal("pairs-jsonl", '{"query_id": "first"}\n' + line)

    assert (error.line, error.message) == (2, sentence)


def test_the_same_pair_twice_is_refused_with_both_lines():
    error = refusal("pairs-jsonl", '{"query_id": "a"}\n{"query_id": "a"}\n')

    assert (error.line, error.message) == (2, "instruction pair a was already on line 1")


def test_a_time_without_a_zone_is_not_written():
    narrative = NarrativeRecord("altered", 1, "t", None, datetime(2026, 3, 1))  # noqa: DTZ001

    with pytest.raises(ValueError, match="has no time zone"):
        write_records("pairs-jsonl", [PairRecord("1", "1", narratives=(narrative,))])
