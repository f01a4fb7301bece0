"""query-doc.json of Multi-InfoSearch: documents of each query, positive or hard negative."""

from __future__ import annotations

import json

import pytest

from formats.records import Doc, Qrel, Topic
from tests.formats.files import read, refusal

DOCUMENTS = [
    {"doc_id": "doc_1", "type": "positive", "text": "Ships sleep here."},
    {"doc_id": "doc_2", "type": "hard_negative", "text": "Ghent."},
]
ENTRY = {"query_id": "2654", "query": "harbours", "documents": DOCUMENTS}
RECORDS = [
    Topic("2654", "harbours"),
    Doc("2654_doc_1", "", "Ships sleep here."),
    Qrel("2654", "2654_doc_1", 1),
    Doc("2654_doc_2", "", "Ghent."),
    Qrel("2654", "2654_doc_2", 0),
]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([ENTRY], indent=2),
        json.dumps([ENTRY]),
        json.dumps(ENTRY, indent=2),
        json.dumps(ENTRY) + "\n",
    ],
    ids=["a list", "a list on one line", "one object", "one object a line"],
)
def test_the_type_of_a_document_gives_its_relevance(text):
    assert read("multi-infosearch-docs", text) == RECORDS


def test_documents_of_two_queries_with_the_same_number_are_different():
    other = {**ENTRY, "query_id": "99"}

    docs = [
        record.doc_id
        for record in read("multi-infosearch-docs", json.dumps([ENTRY, other]))
        if isinstance(record, Doc)
    ]

    assert docs == ["2654_doc_1", "2654_doc_2", "99_doc_1", "99_doc_2"]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"query": " "}, "query is empty"),
        ({"query_id": None}, "query_id is missing"),
        ({"documents": []}, "documents is empty: a query has at least one"),
        ({"documents": None}, "documents is empty: a query has at least one"),
        ({"documents": DOCUMENTS[:1] * 2}, "document doc_1 occurs twice"),
        (
            {"documents": [{**DOCUMENTS[0], "type": "negative"}]},
            "type is 'negative'; it is one of positive, hard_negative",
        ),
        ({"documents": [{"doc_id": "d", "type": "positive"}]}, "text is missing"),
    ],
)
def test_a_bad_entry_is_refused_with_its_line(change, sentence):
    error = refusal("multi-infosearch-docs", "[\n" + json.dumps({**ENTRY, **change}) + "\n]")

    assert (error.line, error.message) == (2, sentence)


def test_a_query_that_occurs_twice_is_refused():
    assert (
        "query 2654 occurs twice"
        in refusal("multi-infosearch-docs", json.dumps([ENTRY, ENTRY])).message
    )


def test_the_format_is_recognised():
    assert refusal("trec-topics", json.dumps([ENTRY], indent=2)).message.endswith(
        "; the file looks like multi-infosearch-docs: load it as multi-infosearch-docs"
    )


RECORD = {
    "query_id": "2654",
    "combo_id": 1,
    "query": "harbours",
    "document": "Ghent has a harbour.",
    "relevance": 1,
    "attributes": {"length": "Short"},
    "instructed_query": "Harbours, in few words.",
    "positive_doc": "Ships sleep here.",
    "hard_negative_doc": "Ghent.",
    "violated_attributes": ["length"],
}


def both(*documents):
    return {
        "final_sorted.jsonl": json.dumps(RECORD) + "\n",
        "query-doc.json": json.dumps([{**ENTRY, "documents": list(documents)}]),
    }


def test_documents_of_both_files_with_the_same_text_are_one_document():
    another = {"doc_id": "doc_3", "type": "positive", "text": "The port of Ghent."}

    records = read("multi-infosearch-folder", both(*DOCUMENTS, another))

    assert [one.doc_id for one in records if isinstance(one, Doc)] == [
        "2654_document1",
        "2654_1_positive",
        "2654_1_negative",
        "2654_doc_3",
    ]
    assert sum(isinstance(one, Topic) for one in records) == 1


def test_a_document_with_another_type_in_the_other_file_is_refused():
    turned = {**DOCUMENTS[0], "type": "hard_negative"}

    assert refusal("multi-infosearch-folder", both(turned)).message == (
        "document 2654_doc_1 is a hard_negative here, and a positive in final_sorted.jsonl"
    )


def test_a_folder_without_one_of_the_files_is_refused():
    files = both(*DOCUMENTS)
    del files["query-doc.json"]

    assert refusal("multi-infosearch-folder", files).message == "no query-doc.json in this folder"
