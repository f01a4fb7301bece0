from __future__ import annotations

import pytest

from formats.records import RunLine
from tests.formats.files import read, read_collecting, refusal, write_records


@pytest.mark.parametrize(
    ("line", "record"),
    [
        ("1 Q0 zy8qjaai 1 0.78 irc", RunLine("1", "zy8qjaai", 1, 0.78, "irc")),
        ("301\tQ0\tFR94-1\t104\t  2.129133\tSTD", RunLine("301", "FR94-1", 104, 2.129133, "STD")),
        ("301\tQ0\tFR94-1\t99\t  2.1\tSTD more junk at", RunLine("301", "FR94-1", 99, 2.1, "STD")),
        ("e-1 Q0 be9a 1 -0.0022846567 t5", RunLine("e-1", "be9a", 1, -0.0022846567, "t5")),
        ("1 0 a 0 1e-3 t", RunLine("1", "a", 0, 0.001, "t")),
        ("1 Q0 a - 3 t", RunLine("1", "a", None, 3.0, "t")),
        ("0_0 Q0 6842 1 133.195378 bm25", RunLine("0_0", "6842", 1, 133.195378, "bm25")),
    ],
)
def test_lines_of_real_runs_are_read(line, record):
    assert read("trec-run", line + "\n") == [record]


def test_the_same_document_may_occur_in_two_topics():
    assert len(read("trec-run", "1 Q0 a 1 2 t\n2 Q0 a 1 2 t\n1 Q0 b 2 1 t\n")) == 3


def test_a_document_twice_in_a_topic_is_refused_with_both_lines():
    error = refusal("trec-run", "1 Q0 a 1 3 t\n2 Q0 a 1 2 t\n1 Q0 a 2 1 t\n")

    assert str(error) == (
        "file, line 3: document a occurs twice in topic 1: first on line 1, again on line 3: "
        "1 Q0 a 2 1 t"
    )


def test_a_line_without_a_tag_is_refused():
    error = refusal("trec-run", "1 Q0 a 1 3 t\n1 Q0 b 2 2\n")

    assert str(error) == (
        "file, line 2: a run line has 6 columns (query_id Q0 doc_id rank score tag), "
        "this has 5 columns: 1 Q0 b 2 2"
    )


@pytest.mark.parametrize("score", ["nan", "inf", "-inf", "1_0", "high", "1,5"])
def test_a_score_that_is_not_a_number_is_refused(score):
    error = refusal("trec-run", f"1 Q0 a 1 3 t\n1 Q0 b 2 {score} t\n")

    assert (error.line, error.message) == (2, f"the score {score!r} is not a number")


def test_an_id_that_is_too_long_is_refused():
    error = refusal("trec-run", f"1 Q0 a 1 3 t\n1 Q0 {'b' * 256} 2 2 t\n")

    assert (error.line, "is longer than 255 characters" in error.message) == (2, True)


def test_bad_lines_are_collected_and_the_others_read():
    lines, problems = read_collecting(
        "trec-run", "1 Q0 a 1 3 t\n1 Q0\n\n1 Q0 a 2 2 t\n1 Q0 c 3 1 t"
    )

    assert [line.doc_id for line in lines] == ["a", "c"]
    assert [problem.partition(":")[0] for problem in problems] == ["file, line 2", "file, line 4"]


def test_scores_are_written_so_that_they_read_back_the_same():
    lines = [
        RunLine("1", "a", 1, 0.1 + 0.2, "t"),
        RunLine("1", "b", 2, -1e-300, "t"),
        RunLine("1", "c", None, 3.0, "t"),
    ]

    assert write_records("trec-run", lines) == (
        b"1 Q0 a 1 0.30000000000000004 t\n1 Q0 b 2 -1e-300 t\n1 Q0 c - 3.0 t\n"
    )
    assert read("trec-run", write_records("trec-run", lines)) == lines


@pytest.mark.parametrize(
    "line",
    [
        RunLine("1 2", "a", 1, 1.0, "t"),
        RunLine("1", "a b", 1, 1.0, "t"),
        RunLine("1", "a", 1, 1.0, "my tag"),
        RunLine("1", "a", 1, 1.0, ""),
        RunLine("1", "a", 1, float("nan"), "t"),
        RunLine("1", "a", 1, float("inf"), "t"),
    ],
)
def test_records_that_would_not_read_back_are_not_written(line):
    with pytest.raises(ValueError):
        write_records("trec-run", [line])
