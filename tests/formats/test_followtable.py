from __future__ import annotations

import json

import pytest

from formats.records import Claim, Doc, Generated, NarrativeRecord, PairRecord, Qrel, Topic
from formats.registry import FORMATS
from tests.formats.files import open_content, read, read_collecting, refusal

HTML = "<table><caption>Sea harbours</caption><tr><td>a</td></tr></table>"
MARKDOWN = "# Lakes\n\n| a | b |\n|---|---|\n| 1 | null |"


def out(kind="1.1", positive=("1.txt",), pool=("2.txt", "1.txt", "3.txt"), **other):
    return {
        "instruction": "Only sea harbours.",
        "instruction_type": kind,
        "query_positive": ["1.txt", "2.txt"],
        "instruction_positive": list(positive),
        "all_tables": list(pool),
        **other,
    }


def folder(*outs, entries=None, **files):
    first = {"query": "harbours", "query_positive": ["1.txt", "2.txt"], "outs": list(outs)}
    return {
        "query_instruction.json": json.dumps([first] if entries is None else entries, indent=1),
        "tables/1.txt": HTML,
        "tables/2.txt": MARKDOWN,
        "tables/3.txt": "no table",
        **files,
    }


def test_records_come_in_an_order_in_which_they_can_be_loaded():
    assert read("followtable", folder(out())) == [
        Topic("0", "harbours"),
        Doc("1", "Sea harbours", HTML, "html"),
        Doc("2", "Lakes", MARKDOWN, "markdown"),
        Doc("3", "", "no table", "plain"),
        Qrel("0", "2", 1),
        Qrel("0", "1", 1),
        Qrel("0", "3", 0),
        PairRecord(
            "0_0",
            "0",
            "harbours",
            category="C1",
            origin="llm",
            narratives=(
                NarrativeRecord("altered", 1, "Only sea harbours.", note="instruction type 1.1"),
            ),
        ),
        Claim("0_0", "2", 0, "followtable-claims"),
        Claim("0_0", "1", 1, "followtable-claims"),
        Claim("0_0", "3", 0, "followtable-claims"),
    ]


@pytest.mark.parametrize(
    ("kind", "category"),
    [
        ("1.1", "C1"),
        ("1.2", "C2"),
        ("2.1", "S1"),
        ("2.2", "S2"),
        ("2.3.1", "S3"),
        ("2.3.2", "S3"),
        ("2.3.3", "S3"),
    ],
)
def test_seven_instruction_types_become_five_categories(kind, category):
    pairs = [r for r in read("followtable", folder(out(kind))) if isinstance(r, PairRecord)]

    assert [(pair.category, pair.narratives[0].note) for pair in pairs] == [
        (category, f"instruction type {kind}")
    ]


def test_an_entry_without_instructions_is_a_query_with_its_positives():
    records = read("followtable", folder())

    assert [record for record in records if not isinstance(record, Doc)] == [
        Topic("0", "harbours"),
        Qrel("0", "1", 1),
        Qrel("0", "2", 1),
    ]


def test_ids_are_positions_in_the_list():
    entry = {"query": "q", "query_positive": [], "outs": [out(), out("2.1")]}
    records = read("followtable", folder(entries=[entry, entry]))

    assert [r.query_id for r in records if isinstance(r, Topic)] == ["0", "1"]
    assert [r.pair_id for r in records if isinstance(r, PairRecord)] == ["0_0", "0_1", "1_0", "1_1"]


def test_a_shortened_list_keeps_its_original_positions():
    entry = {"query": "q", "query_positive": [], "outs": [out()]}
    records = read(
        "followtable",
        folder(entries=[entry, entry]) | {"index_map.json": '{\n "0": 8,\n "1": 110\n}'},
    )

    assert [r.pair_id for r in records if isinstance(r, PairRecord)] == ["8_0", "110_0"]


def test_a_repeated_positive_is_claimed_once():
    records = read("followtable", folder(out(positive=("1.txt", "1.txt"))))

    assert [r.doc_id for r in records if isinstance(r, Claim) and r.relevance] == ["1"]


def test_an_instruction_may_repeat_a_positive_of_its_query():
    source = open_content("followtable", folder(out(query_positive=["2.txt", "1.txt", "2.txt"])))

    assert list(FORMATS["followtable"].read(source))
    assert source.left_out.sentences() == []


def test_other_positives_of_an_instruction_are_reported_with_the_line():
    source = open_content("followtable", folder(out(query_positive=["1.txt"])))

    assert list(FORMATS["followtable"].read(source))
    assert source.left_out.sentences() == [
        "the field “outs.query_positive” of 1 record of query_instruction.json (line 2) is not kept"
    ]


def test_a_table_that_one_of_several_instructions_lists_is_generated_for_it():
    records = read("followtable", folder(out(), out(pool=("1.txt", "2.txt")), out(pool=("1.txt",))))

    assert [r for r in records if isinstance(r, Generated)] == [Generated("0_0", "3")]
    # It has no earlier relevance. Table 2 is a positive of the query, so it is not generated.
    assert [r.doc_id for r in records if isinstance(r, Qrel)] == ["2", "1"]


def test_tables_of_a_single_instruction_are_not_generated():
    assert not [r for r in read("followtable", folder(out())) if isinstance(r, Generated)]


def test_tables_that_no_entry_names_are_documents_too():
    records = read("followtable", folder(out()) | {"tables/99.txt": HTML})

    assert [r.doc_id for r in records if isinstance(r, Doc)] == ["1", "2", "3", "99"]


def test_documents_are_known_only_by_their_ids_without_any_table():
    files = {"query_instruction.json": folder(out())["query_instruction.json"]}

    docs = [record for record in read("followtable", files) if isinstance(record, Doc)]

    assert docs == [Doc("2"), Doc("1"), Doc("3")]


def test_the_files_of_the_beir_folder_beside_it_are_not_tables():
    records = read("followtable", folder(out()) | {"beir/notes.txt": "x"})

    assert [r.doc_id for r in records if isinstance(r, Doc)] == ["1", "2", "3"]


def test_a_missing_table_is_refused_with_the_line_of_its_entry():
    entry = {"query": "q", "query_positive": [], "outs": []}
    other = {"query": "r", "query_positive": ["7.txt"], "outs": []}

    error = refusal("followtable", folder(entries=[entry, other]))

    assert str(error) == (
        "folder/query_instruction.json, line 7: table 7 of query 1 is not in the folder"
    )


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ({"query_positive": [], "outs": []}, "entry 0: query is missing"),
        (
            {"query": "q", "outs": []},
            "entry 0: query_positive must be a list of table names, not null",
        ),
        (
            {"query": "q", "query_positive": ["a b.txt"], "outs": []},
            "entry 0: query_positive 'a b' contains white space",
        ),
        (
            {"query": "q", "query_positive": [5], "outs": []},
            "entry 0: query_positive must be text, not a number",
        ),
        (
            {"query": "q", "query_positive": [], "outs": {}},
            "entry 0: outs must be a list, not an object",
        ),
        (
            {"query": "q", "query_positive": [], "outs": [out("3.1")]},
            (
                "entry 0: instruction 0: instruction_type is '3.1'; "
                "it must be one of 1.1, 1.2, 2.1, 2.2, 2.3.1, 2.3.2, 2.3.3"
            ),
        ),
        (
            {"query": "q", "query_positive": [], "outs": [out(instruction=" ")]},
            "entry 0: instruction 0: instruction is empty",
        ),
        ("q", "entry 0: an entry must be an object, not text"),
    ],
)
def test_bad_entries_are_refused_with_position_and_line(entry, sentence):
    error = refusal("followtable", folder(entries=[entry]))

    assert (error.file, error.line, error.message) == (
        "folder/query_instruction.json",
        2,
        sentence,
    )


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        ('[\n {"query":\n', 2, "not JSON: Expecting value"),
        ('{"query": "q"}', 1, "this must be a list of queries, not an object"),
    ],
)
def test_a_file_that_is_not_a_list_is_refused(text, line, sentence):
    error = refusal("followtable", {"query_instruction.json": text})

    assert (error.line, error.message) == (line, sentence)


def test_a_folder_without_the_files_of_the_format_is_refused():
    assert str(refusal("followtable", {"tables/1.txt": HTML})) == (
        "folder: no query_instruction.json in this folder"
    )


def test_a_table_in_another_encoding_is_named_and_the_others_read():
    records, problems = read_collecting(
        "followtable", folder(out()) | {"tables/2.txt": "café".encode("latin-1")}
    )

    assert [r.doc_id for r in records if isinstance(r, Doc)] == ["1", "3"]
    assert [problem.partition(": caf")[0] for problem in problems] == [
        "folder/tables/2.txt, line 1: not UTF-8: byte 4 of the line is 0xe9"
    ]


def test_a_claim_has_the_reason_why_its_table_violates():
    reasons = {"2.txt": "It is about lakes."}

    records = read("followtable", folder(out(violations=reasons)))

    assert [r for r in records if isinstance(r, Claim)] == [
        Claim("0_0", "2", 0, "followtable-claims", "It is about lakes."),
        Claim("0_0", "1", 1, "followtable-claims"),
        Claim("0_0", "3", 0, "followtable-claims"),
    ]


@pytest.mark.parametrize(
    ("violations", "sentence"),
    [
        ({"1.txt": "why"}, "names 1, which is not among the tables of this instruction"),
        ({"9.txt": "why"}, "names 9, which is not among the tables of this instruction"),
        ({"2.txt": 3}, "a reason must be text, not a number"),
        (["2.txt"], "must be an object of reasons, not a list"),
    ],
)
def test_a_reason_names_a_violating_table_of_its_instruction(violations, sentence):
    assert sentence in str(refusal("followtable", folder(out(violations=violations))))


def test_a_generated_table_is_claimed_only_under_its_instruction():
    made_for_the_second = out(pool=("1.txt", "2.txt", "3.txt"))
    records = read("followtable", folder(out(pool=("1.txt", "2.txt")), made_for_the_second))

    claims = [(r.pair_id, r.doc_id) for r in records if isinstance(r, Claim)]
    assert [pair_id for pair_id, doc_id in claims if doc_id == "3"] == ["0_1"]
