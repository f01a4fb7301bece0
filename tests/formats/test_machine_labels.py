"""Labels of machines in files of other tools: judgments of a machine, with their confidence."""

from __future__ import annotations

import gzip

import pytest

from formats.records import FlagRecord, JudgmentRecord, Qrel
from formats.registry import lookup
from formats.source import Source
from tests.formats.files import open_content, read, refusal, write_records


def label(doc_id: str, relevance: int, note: str, annotator: str = "my-judge") -> JudgmentRecord:
    return JudgmentRecord("1", doc_id, annotator, relevance, note=note, machine=True)


def test_six_columns_are_judgments_of_the_machine_named_by_the_tag():
    text = "1 Q0 a#0_0 3 1 my-judge\n\n1\tQ0\tb\t-1\t.25\tmy-judge\n"

    assert read("trec-labels", text) == [
        label("a#0_0", 3, "confidence 1"),
        label("b", -1, "confidence .25"),
    ]


@pytest.mark.parametrize("name", ["judgments-jsonl", "judgments-csv"])
def test_the_confidence_survives_in_our_own_files(name):
    labels = read("trec-labels", "1 Q0 a 3 0.850 my-judge\n")

    assert read(name, write_records(name, labels)) == labels
    assert labels[0].note == "confidence 0.850"


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            "1 0 a 2 0.5",
            (
                "a label has 6 columns (query_id Q0 doc_id judgment confidence tag), "
                "this has 5 columns"
            ),
        ),
        ("101 0 a 2 1 -1", "column 6 is -1; it must be the name of a machine"),
        ("1 Q0 a high 1 x", "the relevance 'high' is not a whole number"),
        ("1 Q0 a 1 85 x", "the confidence '85' is not a number from 0 to 1"),
        ("1 Q0 a 1 nan x", "the confidence 'nan' is not a number from 0 to 1"),
        ("1 Q0 a 1 -0.1 x", "the confidence '-0.1' is not a number from 0 to 1"),
    ],
)
def test_a_line_that_is_no_label_is_refused(line, sentence):
    error = refusal("trec-labels", f"1 Q0 first 3 1 x\n{line}\n")

    assert (error.line, error.message) == (2, sentence)


def test_judged_candidates_are_judgments_of_the_model_and_a_fallback_is_a_flag():
    text = (
        '{"query": {"qid": "1"}, "model": "gpt", "candidates": ['
        '{"docid": "a", "judgment": 2, "reasoning": "It names it.", "confidence": 0.5}, '
        '{"docid": "b", "judgment": 1, "model": "other"}, '
        '{"docid": "c", "judgment": 0, "result_status": 0}]}\n'
    )

    assert read("umbrela-json", text) == [
        label("a", 2, "confidence 0.5\nIt names it.", "gpt"),
        label("b", 1, "", "other"),
        FlagRecord(
            *("1", "c", "gpt", "cannot_judge"),
            words="no judgment in the machine's answer",
            machine=True,
        ),
    ]


def test_judged_candidates_are_no_ranking():
    text = '{"query": {"qid": "1"}, "candidates": [{"docid": "a", "judgment": 2}]}\n'

    assert refusal("infosearch-results", text).message == (
        "the candidates have judgments, so this is not a ranking; "
        "the file looks like umbrela-json: load it as umbrela-json"
    )


def test_the_most_probable_grade_is_the_label_and_the_annotation_is_earlier_relevance():
    text = "topic_id,doc_id,annotation,prob_0,prob_1,prob_2\n1,a,2,0.1,0.2,0.70\n1,b,,0.6,0.3,0.1\n"

    assert read("lara-csv", text) == [
        label("a", 2, "confidence 0.70", "file"),
        Qrel("1", "a", 2),
        label("b", 0, "confidence 0.6", "file"),
    ]


def test_yes_is_one_and_no_is_zero_and_a_tie_is_reported_as_no_label():
    text = "topic_id,doc_id,annotation,prob_yes,prob_no\n1,a,0,0.9,0.1\n1,b,1,0.50,0.5\n"
    source = open_content("lara-csv", text)

    assert list(lookup("lara-csv").read(source)) == [
        label("a", 1, "confidence 0.9", "file"),
        Qrel("1", "a", 0),
        Qrel("1", "b", 1),
    ]
    assert source.left_out.sentences() == [
        "the field “probabilities without a single highest one” of 1 record (line 3) is not kept"
    ]


@pytest.mark.parametrize("name", ["gpt-4o.csv", "gpt-4o.csv.gz"])
def test_a_machine_is_named_after_its_file_compressed_or_not(name):
    text = b"topic_id,doc_id,annotation,prob_yes,prob_no\n1,a,,0.9,0.1\n"
    source = Source(gzip.compress(text) if name.endswith(".gz") else text, name)

    assert list(lookup("lara-csv").read(source)) == [label("a", 1, "confidence 0.9", "gpt-4o")]


def test_a_table_without_probabilities_is_refused():
    error = refusal("lara-csv", "topic_id,annotation\n1,2\n")

    assert error.message == "the header line lacks doc_id, prob_0, prob_1 …"
