"""Published sets read back as one query with two narratives, not as two queries."""

from __future__ import annotations

import pytest

from formats.records import Doc, JudgmentRecord, NarrativeRecord, PairRecord, Pooled, Qrel
from formats.registry import lookup
from tests.formats.files import open_content, refusal

QUERIES = '{"_id": "301-og", "text": "harbours"}\n{"_id": "301-changed", "text": "harbours"}\n'
INSTRUCTIONS = (
    '{"query-id": "301-og", "instruction": "Any."}\n'
    '{"query-id": "301-changed", "instruction": "Only sea harbours."}\n'
)
QRELS = (
    '{"query-id": "301-og", "corpus-id": "a", "score": 1}\n'
    '{"query-id": "301-changed", "corpus-id": "a", "score": 0}\n'
)
FILES = {
    "queries.jsonl": QUERIES,
    "instructions.jsonl": INSTRUCTIONS,
    "corpus.jsonl": (
        '{"_id": "a", "title": "", "text": "High."}\n{"_id": "b", "title": "", "text": ""}\n'
    ),
    "top_ranked.jsonl": '{"query-id": "301-og", "corpus-ids": ["a", "b"]}\n',
    "qrels.jsonl": QRELS,
}


def read(files, name="mteb"):
    return list(lookup(name).read(open_content(name, files)))


@pytest.mark.parametrize("name", ["mteb", "hf"])
def test_two_queries_become_one_pair_with_two_narratives(name):
    assert read(FILES, name) == [
        PairRecord(
            "301",
            "301",
            "harbours",
            narratives=(
                NarrativeRecord("original", 1, "Any."),
                NarrativeRecord("altered", 1, "Only sea harbours."),
            ),
        ),
        Doc("a", "", "High."),
        Doc("b", "", None),
        Pooled("301", "a"),
        Pooled("301", "b"),
        Qrel("301", "a", 1),
        JudgmentRecord(
            "301", "a", "published", 0, side="altered", pair_id="301", version=1, machine=True
        ),
    ]


def test_the_ids_of_pairs_and_queries_are_those_of_the_project():
    files = {
        **FILES,
        "pairs.jsonl": '{"pair_id": "3_1", "query_id": "3", "original": "A.", "altered": "B."}\n',
        "pair_ids.tsv": "pair_id\twritten_as\n3_1\t301\n",
    }

    found = read(files)

    assert (found[0].pair_id, found[0].query_id) == ("3_1", "3")
    assert found[-2:] == [
        Qrel("3", "a", 1),
        JudgmentRecord(
            "3", "a", "published", 0, side="altered", pair_id="3_1", version=1, machine=True
        ),
    ]


def test_the_changed_grades_of_a_reversed_set_belong_to_the_reversed_narrative():
    found = read({**FILES, "reversed/qrels.jsonl": QRELS.replace('"score": 0', '"score": 2')})

    assert [(one.side, one.relevance) for one in found if isinstance(one, JudgmentRecord)] == [
        ("altered", 0),
        ("reversed", 2),
    ]
    assert sum(isinstance(one, Qrel) for one in found) == 1


def test_a_beir_folder_with_pairs_and_both_sides_is_read_the_same_way():
    found = read(
        {
            "queries.jsonl": QUERIES,
            "pairs.jsonl": '{"query_id": "301", "original": "Any.", "altered": "Sea."}\n',
            "qrels/original.tsv": "query-id\tcorpus-id\tscore\n301-og\ta\t1\n",
            "qrels/changed.tsv": "query-id\tcorpus-id\tscore\n301-changed\ta\t0\n",
        },
        "beir",
    )

    assert found[1:] == [
        Qrel("301", "a", 1),
        JudgmentRecord(
            "301", "a", "published", 0, side="altered", pair_id="301", version=1, machine=True
        ),
    ]


@pytest.mark.parametrize(
    ("file", "content", "sentence"),
    [
        (
            "queries.jsonl",
            '{"_id": "301", "text": "t"}\n',
            "the id 301 does not end with any of -og",
        ),
        ("instructions.jsonl", '{"query-id": "x-og"}\n', "query 301-og has no instruction"),
        ("queries.jsonl", QUERIES + QUERIES, "query 301-og occurs twice"),
        (
            "queries.jsonl",
            QUERIES.split("\n")[0],
            "query 301-changed is missing; instructions.jsonl has an instruction for it",
        ),
        ("qrels.jsonl", QRELS.replace("301-og", "302-og"), "query 302-og is not a side of a pair"),
        ("top_ranked.jsonl", '{"query-id": "301-og"}\n', "corpus-ids must be a list"),
        ("pair_ids.tsv", "301\n", "a line has 2 columns separated by a tab, this has 1"),
    ],
)
def test_a_bad_line_is_refused_with_its_file(file, content, sentence):
    error = refusal("mteb", {**FILES, file: content})

    assert sentence in error.message
    assert error.file.endswith("queries.jsonl" if file == "instructions.jsonl" else file)


def test_a_second_instruction_of_a_query_is_refused():
    error = refusal("mteb", {**FILES, "instructions.jsonl": INSTRUCTIONS + INSTRUCTIONS})

    assert error.message == "query 301-og already has an instruction"
    assert error.line == 3


def test_another_text_of_the_second_query_of_a_pair_is_reported():
    queries = QUERIES.replace('"301-changed", "text": "harbours"', '"301-changed", "text": "ports"')
    folder = open_content("mteb", {**FILES, "queries.jsonl": queries})

    [pair] = [record for record in lookup("mteb").read(folder) if isinstance(record, PairRecord)]

    assert pair.title == "harbours"
    [sentence] = folder.left_out.sentences()
    assert sentence == (
        "the field “text, where it differs between the queries of a pair” of 1 record of "
        "queries.jsonl (line 2) is not kept"
    )


def test_a_folder_without_queries_is_refused():
    error = refusal("mteb", {"corpus.jsonl": "{}\n"})

    assert (
        error.message
        == "no queries.jsonl and no instructions.jsonl and no qrels.jsonl in this folder"
    )
