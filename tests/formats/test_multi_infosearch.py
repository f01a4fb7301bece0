from __future__ import annotations

import json

import pytest

from formats.records import (
    ConditionRecord,
    Doc,
    JudgmentRecord,
    NarrativeRecord,
    PairRecord,
    Qrel,
    Topic,
    VerdictRecord,
)
from tests.formats.files import read, read_collecting

RECORD = {
    "dataset": "some/set",
    "query_id": "7",
    "query": "harbours",
    "document": "Ghent has a harbour.",
    "relevance": 1,
    "language": "English",
    "attributes": {"length": "Short", "keyword": ["sea", "ship"]},
    "combo_id": 3,
    "instructed_query": "In few words on ships at sea: harbours?",
    "reversed_query": "At length, and nothing of the sea: harbours?",
    "query_type": "expanded",
    "positive_doc": "Ships sleep there.",
    "hard_negative_doc": "A town by a canal.",
    "violated_attributes": ["keyword"],
}


def line(**fields):
    return json.dumps({**RECORD, **fields}) + "\n"


def claim(doc_id, relevance, *answers):
    return JudgmentRecord(
        "7",
        doc_id,
        "multi-infosearch-claims",
        relevance,
        "altered",
        "7_3",
        1,
        machine=True,
        verdicts=tuple(VerdictRecord(number, answer) for number, answer in enumerate(answers, 1)),
    )


def test_a_record_becomes_a_pair_with_attributes_and_documents():
    assert read("multi-infosearch", line()) == [
        Topic("7", "harbours"),
        Doc("7_document1", "", "Ghent has a harbour."),
        Qrel("7", "7_document1", 1),
        Doc("7_3_positive", "", "Ships sleep there."),
        Qrel("7", "7_3_positive", 1),
        Doc("7_3_negative", "", "A town by a canal."),
        Qrel("7", "7_3_negative", 1),
        PairRecord(
            "7_3",
            "7",
            "harbours",
            category="length, keyword",
            origin="llm",
            narratives=(
                NarrativeRecord(
                    "altered",
                    1,
                    "In few words on ships at sea: harbours?",
                    conditions=(
                        ConditionRecord("length", "Short"),
                        ConditionRecord("keyword", "sea, ship"),
                    ),
                ),
                NarrativeRecord("reversed", 1, "At length, and nothing of the sea: harbours?"),
            ),
            source_fields='{"attributes": {"keyword": ["sea", "ship"]}, "dataset": "some/set", '
            '"language": "English", "query_type": "expanded"}',
        ),
        claim("7_3_positive", 1, "met", "met"),
        claim("7_3_negative", 0, "met", "not_met"),
    ]


def test_records_of_one_query_share_its_topic_and_its_document():
    records = read(
        "multi-infosearch", line() + line(combo_id=4) + line(combo_id=5, document="Another.")
    )

    assert [r for r in records if isinstance(r, Topic)] == [Topic("7", "harbours")]
    assert [r.doc_id for r in records if isinstance(r, Doc) and "document" in r.doc_id] == [
        "7_document1",
        "7_document2",
    ]
    assert [r.pair_id for r in records if isinstance(r, PairRecord)] == ["7_3", "7_4", "7_5"]


def test_a_record_names_the_attributes_that_its_reversed_query_negates():
    [pair] = [
        one
        for one in read("multi-infosearch", line(negated_attributes=["keyword"]))
        if isinstance(one, PairRecord)
    ]

    assert pair.narratives[0].conditions == (
        ConditionRecord("length", "Short", negated=False),
        ConditionRecord("keyword", "sea, ship", negated=True),
    )


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        (
            {"combo_id": 4, "negated_attributes": ["source"]},
            "source is negated, but is not among the attributes",
        ),
        ({}, "combination 3 of query 7 was already on line 1"),
        ({"combo_id": 4, "query": "dykes"}, "query 7 had another text on an earlier line"),
        ({"combo_id": 4, "attributes": {}}, "attributes is empty: an instruction has at least one"),
        ({"combo_id": 4, "attributes": ["length"]}, "attributes must be an object of names, not a"),
        (
            {"combo_id": 4, "attributes": {"length": 3}},
            "the attribute length must be text or a list of texts",
        ),
        (
            {"combo_id": 4, "violated_attributes": ["source"]},
            "source is violated, but is not among the attributes",
        ),
        (
            {"combo_id": 4, "violated_attributes": []},
            "violated_attributes is empty: a hard negative violates at least one",
        ),
        (
            {"combo_id": 4, "violated_attributes": "keyword"},
            "violated_attributes must be a list of names, not text",
        ),
        ({"combo_id": 4, "positive_doc": " "}, "positive_doc is empty"),
        ({"combo_id": 4, "document": None}, "document is missing"),
        ({"combo_id": None}, "combo_id is missing"),
    ],
)
def test_bad_records_are_refused_with_a_sentence(fields, sentence):
    records, problems = read_collecting("multi-infosearch", line() + line(**fields))

    [problem] = problems
    assert problem.removeprefix("file, line 2: ").startswith(sentence)
    assert len(records) == 10
