from __future__ import annotations

import json

import pytest

from formats.records import Doc, JudgmentRecord, NarrativeRecord, PairRecord, Qrel, Topic
from tests.formats.files import read, read_collecting, refusal

QUERY = {
    "_id": "0",
    "text": "harbours",
    "instruction_og": "",
    "instruction_changed": "Harbours, in Dutch please.",
    "instruction_reversed": "Harbours, in any language but Dutch.",
}
HEADER = "query-id\tcorpus-id\tscore\n"


def folder(*queries, **files):
    return {
        "queries.jsonl": "".join(json.dumps(query) + "\n" for query in queries or [QUERY]),
        "corpus.jsonl": '{"_id": "nl", "title": "", "text": "De haven."}\n',
        "qrels_og/test.tsv": HEADER + "0\tnl\t1\n",
        "qrels_changed/test.tsv": HEADER + "0\tnl\t1\n",
        "qrels_reversed/test.tsv": HEADER + "0\tnl\t0\n",
        **files,
    }


def claim(relevance, side):
    return JudgmentRecord("0", "nl", "infosearch-claims", relevance, side, "0", 1, machine=True)


def test_the_three_qrels_belong_to_the_three_narratives():
    assert read("infosearch", folder()) == [
        Topic("0", "harbours"),
        PairRecord(
            "0",
            "0",
            "harbours",
            origin="llm",
            narratives=(
                NarrativeRecord("original", 1, ""),
                NarrativeRecord("altered", 1, "Harbours, in Dutch please."),
                NarrativeRecord("reversed", 1, "Harbours, in any language but Dutch."),
            ),
        ),
        Doc("nl", "", "De haven."),
        Qrel("0", "nl", 1),
        claim(1, "altered"),
        claim(0, "reversed"),
    ]


def test_a_folder_without_its_parts_is_refused():
    files = folder()
    del files["corpus.jsonl"]

    assert str(refusal("infosearch", files)) == "folder: no corpus.jsonl in this folder"


def test_qrels_under_a_missing_instruction_are_refused():
    _, [problem] = read_collecting("infosearch", folder({**QUERY, "instruction_reversed": ""}))

    assert problem.startswith(
        "folder/qrels_reversed/test.tsv, line 2: query 0 has no reversed instruction"
    )


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        (QUERY, "query 0 was already on line 1"),
        ({**QUERY, "_id": "1", "text": ""}, "text is empty"),
        ({**QUERY, "_id": None}, "_id is missing"),
    ],
)
def test_bad_queries_are_refused_with_a_sentence(query, sentence):
    _, [problem] = read_collecting("infosearch", folder(QUERY, query))

    assert problem.startswith(f"folder/queries.jsonl, line 2: {sentence}")
