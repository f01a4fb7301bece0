from __future__ import annotations

from datetime import UTC, datetime

import pytest

from formats.records import (
    AdjudicationRecord,
    DecisionRecord,
    Evidence,
    FlagRecord,
    JudgmentRecord,
    RatingRecord,
    ReviewRecord,
    VerdictRecord,
)
from tests.formats.files import read, refusal, write_records

AT = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)

COMPLETE = [
    JudgmentRecord(
        "301",
        "FT911-3",
        "ada",
        2,
        "altered",
        "301_1",
        3,
        AT,
        'a "note"\nof two lines',
        "0b8e7a4e-6f0c-4f0e-9d8c-1d2f3a4b5c6d",
        False,
        (Evidence(0, 12), Evidence(40, 52)),
        8_300,
        AT,
        AT,
        (Evidence(3, 9),),
        (VerdictRecord(1, "met"), VerdictRecord(3, "cant_tell")),
        "key",
        AT,
    ),
    FlagRecord(
        "301",
        "d",
        "ben",
        "cannot_judge",
        "altered",
        "301_1",
        3,
        AT,
        "in Dutch",
        AT,
        "5d1c7e2a-1111-4f0e-9d8c-1d2f3a4b5c6d",
        AT,
    ),
    AdjudicationRecord(
        "301",
        "d",
        "carla",
        1,
        "altered",
        "301_1",
        3,
        AT,
        "the rule says so",
        "guideline",
        "carla",
        AT,
    ),
    ReviewRecord(
        "301_1",
        "301",
        "dan",
        "2026-01",
        "altered",
        3,
        AT,
        AT,
        (
            RatingRecord("semantic_expansion", "excellent"),
            RatingRecord("query_dependency", "poor", "x"),
        ),
    ),
    DecisionRecord("301_1", "301", "carla", "revise", "altered", 3, AT, "too vague", "carla", AT),
]


def test_all_fields_are_written_and_read_back():
    assert read("judgments-jsonl", write_records("judgments-jsonl", COMPLETE)) == COMPLETE


def test_the_shortest_judgment_has_four_fields():
    line = '{"query_id": "301", "doc_id": "d", "annotator": "ada", "relevance": 0}'

    assert read("judgments-jsonl", line) == [JudgmentRecord("301", "d", "ada", 0)]


def test_relevance_may_be_named_label():
    line = '{"query_id": "301", "doc_id": "d", "annotator": "ada", "label": 2}'

    assert read("judgments-jsonl", line)[0].relevance == 2


@pytest.mark.parametrize(
    ("at", "moment"),
    [
        ("2026-03-01T09:30:00Z", AT),
        ("2026-03-01T11:30:00+02:00", AT),
        ("2026-03-01 09:30", AT),
        ("2026-03-01", datetime(2026, 3, 1, tzinfo=UTC)),
    ],
)
def test_times_become_utc(at, moment):
    line = f'{{"query_id": "1", "doc_id": "d", "annotator": "ada", "relevance": 0, "at": "{at}"}}'

    assert read("judgments-jsonl", line)[0].at == moment


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ('"relevance": 0.4', "the relevance 0.4 is a fraction; relevance is a whole number"),
        ('"relevance": true', "the relevance must be a whole number, not true or false"),
        ('"relevance": null', "relevance is missing"),
        ('"note": "x"', "relevance is missing"),
        (
            '"relevance": 1, "side": "left"',
            "side is 'left'; it is one of original, altered, reversed",
        ),
        ('"relevance": 1, "version": "two"', "version must be a whole number"),
        (
            '"relevance": 1, "at": "yesterday"',
            "at 'yesterday' is not a date and time like 2026-03-01T09:30:00Z",
        ),
        (
            '"relevance": 1, "at": "0001-01-01T00:00:00+14:00"',
            "at '0001-01-01T00:00:00+14:00' is no",
        ),
        ('"relevance": 1, "uuid": "7"', "uuid '7' is not a UUID"),
        ('"relevance": 1, "machine": "yes"', "machine must be true or false, not text"),
        (
            '"relevance": 1, "evidence": [{"start": 5, "end": 2}]',
            "a span of evidence needs a start and an end after it",
        ),
        (
            '"relevance": 1, "evidence": [{"start": 5, "end": 5}]',
            "a span of evidence needs a start and an end after it",
        ),
        (
            '"relevance": 1, "clauses": [{"start": 5}]',
            "a span of clauses needs a start and an end after it",
        ),
        ('"relevance": 1, "clauses": [{"start": -1, "end": 2}]', "start is -1; it is a whole"),
        ('"relevance": 1, "clauses": [[1, 2]]', "clauses must hold objects, not a list"),
        (
            '"relevance": 1, "verdicts": [{"answer": "met"}]',
            "a verdict needs the number of its condition, from 1",
        ),
        (
            '"relevance": 1, "verdicts": [{"condition": 0, "answer": "met"}]',
            "condition is 0; it is a whole number of at least 1",
        ),
        (
            '"relevance": 1, "verdicts": [{"condition": 1, "answer": "yes"}]',
            "answer is 'yes'; it is one of met, not_met, cant_tell",
        ),
        (
            (
                '"relevance": 1, "verdicts": [{"condition": 1, "answer": "met"}, '
                '{"condition": 1, "answer": "met"}]'
            ),
            "there are two verdicts on condition 1",
        ),
        ('"relevance": 1, "pressed": "foot"', "pressed is 'foot'; it is one of key, click"),
        (
            '"relevance": 1, "type": "opinion"',
            "type is 'opinion'; it is one of judgment, flag, adjudication, review, decision",
        ),
        (
            '"type": "flag", "kind": "maybe"',
            "kind is 'maybe'; it is one of later, cannot_judge, problem",
        ),
    ],
)
def test_bad_judgments_are_refused_with_a_sentence(fields, sentence):
    good = '{"query_id": "1", "doc_id": "d", "annotator": "ada", "relevance": 0}\n'
    line = f'{{"query_id": "1", "doc_id": "d", "annotator": "ada", {fields}}}'

    error = refusal("judgments-jsonl", good + line)

    assert error.line == 2
    assert error.message.startswith(sentence)


def test_verdicts_come_in_the_order_of_their_conditions():
    line = (
        '{"query_id": "1", "doc_id": "d", "annotator": "ada", "relevance": 0, "verdicts": '
        '[{"condition": 2, "answer": "not_met"}, {"condition": 1, "answer": "met"}]}'
    )

    assert read("judgments-jsonl", line)[0].verdicts == (
        VerdictRecord(1, "met"),
        VerdictRecord(2, "not_met"),
    )


def test_an_id_with_a_space_is_not_written():
    with pytest.raises(ValueError, match="doc_id 'a b' contains white space"):
        write_records("judgments-jsonl", [JudgmentRecord("1", "a b", "ada", 0)])
