from __future__ import annotations

from datetime import UTC, datetime

import pytest

from formats.judgments_csv import COLUMNS, TEXT_VERSION
from formats.records import JudgmentRecord
from tests.formats.files import read, read_collecting, refusal, write_records

HEADER = "query_id,doc_id,annotator,relevance\n"


def test_columns_are_found_by_their_names_in_the_header_line():
    text = "annotator,label,doc_id,query_id\nannotator1,3,10274824,1587-background\n"

    assert read("judgments-csv", text) == [
        JudgmentRecord("1587-background", "10274824", "annotator1", 3)
    ]


def test_optional_columns_are_read():
    text = (
        "query_id,doc_id,annotator,relevance,side,at,note,pair_id\n"
        '1,d,ada,0,altered,2026-03-01T09:30:00Z,"two, or\nthree",1_0\n1,e,ada,1,,,,\n'
    )

    assert read("judgments-csv", text) == [
        JudgmentRecord(
            "1",
            "d",
            "ada",
            0,
            "altered",
            "1_0",
            at=datetime(2026, 3, 1, 9, 30, tzinfo=UTC),
            note="two, or\nthree",
        ),
        JudgmentRecord("1", "e", "ada", 1),
    ]


@pytest.mark.parametrize("mark", [";", "\t"])
def test_semicolons_and_tabs_also_separate_columns(mark):
    text = HEADER.replace(",", mark) + f"1{mark}d{mark}ada{mark}2\r\n"

    assert read("judgments-csv", text) == [JudgmentRecord("1", "d", "ada", 2)]


def test_a_byte_order_mark_is_dropped():
    text = "\ufeffQuery_ID, doc_id ,annotator,relevance\n1,d,ada,2\n"

    assert read("judgments-csv", text) == [JudgmentRecord("1", "d", "ada", 2)]


def test_truth_values_are_read_as_spreadsheets_write_them():
    header = HEADER.replace("\n", ",machine\n")
    rows = "1,d,gpt,2,TRUE\n1,d,ada,2,FALSE\n1,e,gpt,2,true\n1,e,ada,2,\n"

    judgments = read("judgments-csv", header + rows)

    assert [judgment.machine for judgment in judgments] == [True, False, True, False]


def test_minus_one_is_read_unchanged():
    assert read("judgments-csv", HEADER + "1,d,ada,-1\n")[0].relevance == -1


@pytest.mark.parametrize(
    ("header", "sentence"),
    [
        ("query_id,doc_id,relevance", "the header line lacks annotator"),
        ("query_id,doc_id,annotator", "the header line lacks relevance"),
        (
            "query_id,doc_id,annotator,relevance,colour",
            f"there is no column “colour”; the columns are {', '.join((*COLUMNS, TEXT_VERSION))}",
        ),
        ("a,b", "the header line lacks query_id, doc_id, annotator, relevance"),
        (
            "query_id,doc_id,annotator,relevance,label",
            "the header line has relevance and label; keep one of them",
        ),
        (
            "query_id,doc_id,doc_id,annotator,relevance",
            "the header line has doc_id twice",
        ),
    ],
)
def test_a_bad_header_line_is_refused(header, sentence):
    error = refusal("judgments-csv", header + "\n1,d,ada,2\n")

    assert (error.line, error.message) == (1, sentence)


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ("1,e,ada,0.4", "the relevance 0.4 is a fraction; relevance is a whole number"),
        ("1,e,ada,", "relevance is missing"),
        ("1,e,ada", "relevance is missing"),
        ("1,e,,2", "annotator is missing"),
        ("1,a b,ada,2", "doc_id 'a b' contains white space"),
        (",e,ada,2", "query_id is missing"),
        ("1,e,ada,2,more", "5 columns, but the header line has 4"),
        ('1,"e"x,ada,2', "not valid CSV: ',' expected after '\"'"),
    ],
)
def test_bad_rows_are_refused_with_a_sentence(row, sentence):
    error = refusal("judgments-csv", HEADER + "1,d,ada,2\n" + row + "\n")

    assert (error.line, error.message) == (3, sentence)


def test_an_unclosed_quote_names_the_line_on_which_it_begins():
    error = refusal("judgments-csv", HEADER + '1,d,ada,2\n1,"e,ada,2\n1,f,ada,2\n')

    assert (error.line, error.message) == (3, "not valid CSV: unexpected end of data")


def test_the_line_of_a_row_is_where_it_begins():
    text = "query_id,doc_id,annotator,relevance,note\n" + '1,d,ada,2,"a\nb"\n1,e,ada,x,\n'

    assert refusal("judgments-csv", text).line == 4


def test_bad_rows_are_collected_and_the_others_read():
    judgments, problems = read_collecting(
        "judgments-csv", HEADER + '1,d,ada,x\n1,e,ada,1\n1,"f"x,ada,1\n\n1,g,ada,0\n'
    )

    assert [judgment.doc_id for judgment in judgments] == ["e", "g"]
    assert [problem.partition(":")[0] for problem in problems] == ["file, line 2", "file, line 4"]


def test_a_file_with_only_a_header_line_is_refused():
    assert str(refusal("judgments-csv", HEADER)) == "file: no judgment found in it"


def test_a_machine_stays_a_machine():
    judgment = JudgmentRecord("1", "d", "some-model", 1, machine=True)

    assert read("judgments-csv", write_records("judgments-csv", [judgment])) == [judgment]


def test_a_superseded_judgment_is_not_written():
    judgment = JudgmentRecord("1", "d", "ada", 1, superseded_at=datetime(2026, 3, 1, tzinfo=UTC))

    with pytest.raises(ValueError, match="holds current judgments only"):
        write_records("judgments-csv", [judgment])
