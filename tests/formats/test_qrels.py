from __future__ import annotations

import gzip

import pytest

from formats.reading import WINDOW
from formats.records import Qrel
from formats.source import Source
from formats.trec_qrels import read_qrels
from tests.formats.files import read, read_collecting, refusal, write_records


@pytest.mark.parametrize(
    ("line", "qrel"),
    [
        ("307 0 1001536 1", Qrel("307", "1001536", 1)),
        ("301\t0\tFBIS3-10082\t2", Qrel("301", "FBIS3-10082", 2)),
        ("1 4.5  005b2j4b 2", Qrel("1", "005b2j4b", 2, "4.5")),
        ("  1 0.5\t 005b2j4b   0  ", Qrel("1", "005b2j4b", 0, "0.5")),
        ("200 Q0 doc_02#7_733 1", Qrel("200", "doc_02#7_733", 1, "Q0")),
        ("1 5 a -1", Qrel("1", "a", -1, "5")),
        ("MB001 0 297 -2", Qrel("MB001", "297", -2)),
        ("886 0 a 16", Qrel("886", "a", 16)),
        ("economics-8 Q0 a/b:c.txt 3", Qrel("economics-8", "a/b:c.txt", 3, "Q0")),
        ("Ab 0 aB 1", Qrel("Ab", "aB", 1)),
        ("051 0 a 1", Qrel("051", "a", 1)),
    ],
)
def test_lines_of_real_collections_are_read(line, qrel):
    assert read("trec-qrels", line + "\n") == [qrel]


def test_a_comment_is_a_line_that_starts_with_a_number_sign():
    text = "# comment here\n301 0 CR93E-10279 0\n# a b 1\n# comment in docno\n301 0 CR#93E-1860 0\n"

    assert read("trec-qrels", text) == [
        Qrel("301", "CR93E-10279", 0),
        Qrel("301", "CR#93E-1860", 0),
    ]


def test_blank_lines_are_skipped():
    assert read("trec-qrels", "\n1 0 a 1\n \n\n1 0 b 0") == [Qrel("1", "a", 1), Qrel("1", "b", 0)]


def test_a_whole_number_written_as_a_float_is_that_number():
    assert read("trec-qrels", "1 0 a 2.0\n") == [Qrel("1", "a", 2)]


def test_a_line_of_three_columns_names_file_and_line():
    error = refusal("trec-qrels", "1 0 a 1\n1 0 b\n")

    assert str(error) == (
        "file, line 2: a qrels line has 4 columns (query_id iteration doc_id relevance), "
        "this has 3 columns: 1 0 b"
    )


def test_an_id_with_a_space_makes_one_column_too_many():
    error = refusal("trec-qrels", "1 0 a 1\n1 0 FBIS3 10082 1\n")

    assert "file, line 2: " in str(error)
    assert "this has 5 columns" in str(error)


@pytest.mark.parametrize(
    ("grade", "sentence"),
    [
        ("0.4", "the relevance 0.4 is a fraction; relevance is a whole number"),
        ("high", "the relevance 'high' is not a whole number"),
        ("1_0", "the relevance '1_0' is not a whole number"),
        ("nan", "the relevance 'nan' is not a whole number"),
        ("99999", "the relevance 99999 is out of range (-32768 to 32767)"),
    ],
)
def test_a_relevance_that_is_not_a_grade_is_refused(grade, sentence):
    error = refusal("trec-qrels", f"1 0 a 1\n1 0 b {grade}\n")

    assert (error.line, error.message) == (2, sentence)


def test_an_id_that_is_too_long_is_refused():
    error = refusal("trec-qrels", f"1 0 a 1\n1 0 {'b' * 256} 1\n")

    assert (error.line, "is longer than 255 characters" in error.message) == (2, True)


def test_an_id_of_255_characters_is_read():
    assert read("trec-qrels", f"1 0 {'b' * 255} 1\n") == [Qrel("1", "b" * 255, 1)]


def test_an_identical_line_is_accepted():
    assert read("trec-qrels", "1 0 a 1\n1 0 a 1\n") == [Qrel("1", "a", 1), Qrel("1", "a", 1)]


def test_a_contradicting_line_is_refused_with_both_numbers():
    error = refusal("trec-qrels", "1 0 a 1\n2 0 a 0\n1 0 a 2\n")

    assert str(error) == (
        "file, line 3: document a of topic 1 has relevance 2 here and 1 on line 1: 1 0 a 2"
    )


def test_the_same_document_in_another_topic_is_not_a_contradiction():
    assert len(read("trec-qrels", "1 0 a 1\n2 0 a 0\n1 0 b 1\n2 0 b 0\n")) == 4


def test_only_recent_lines_are_remembered():
    lines = [f"{number // 1_000} 0 d{number % 1_000} 1\n" for number in range(3 * WINDOW)]
    source = Source("".join(["x 0 far 1\n", *lines, "x 0 far 2\n"]).encode(), "file")

    relevances = [qrel.relevance for qrel in read_qrels(source)]

    # Lines this far apart are caught by the unique constraint of the rows.
    assert (len(relevances), relevances[0], relevances[-1]) == (3 * WINDOW + 2, 1, 2)


def test_bad_lines_are_collected_and_the_others_read():
    qrels, problems = read_collecting("trec-qrels", "1 0 a 1\n1 0\n1 0 b x\n\n1 0 c 0\n1 0 a 0\n")

    assert qrels == [Qrel("1", "a", 1), Qrel("1", "c", 0)]
    assert [problem.partition(":")[0] for problem in problems] == [
        "file, line 2",
        "file, line 3",
        "file, line 6",
    ]


def test_the_place_of_a_record_is_known_while_it_is_read():
    source = Source(b"# c\n1 0 a 1\n\n1 0 b 0\n", "file")

    places = [(qrel.doc_id, source.line, source.text) for qrel in read_qrels(source)]

    assert places == [("a", 2, "1 0 a 1"), ("b", 4, "1 0 b 0")]


def test_gzip_is_read():
    assert read("trec-qrels", gzip.compress(b"1 0 a 1\n")) == [Qrel("1", "a", 1)]


def test_truncated_gzip_gives_one_sentence():
    whole = gzip.compress("".join(f"1 0 d{number} 1\n" for number in range(9_999)).encode())

    assert str(refusal("trec-qrels", whole[:-40])) == (
        "file: the gzip file is cut off before its end"
    )


def test_a_file_with_only_comments_is_refused():
    assert str(refusal("trec-qrels", "# nothing\n# here\n")) == "file: no qrels line found in it"


def test_lines_are_written_with_single_spaces_and_their_iteration():
    qrels = [Qrel("301", "FBIS3-10082", 2), Qrel("1", "x", -1, "4.5")]

    assert write_records("trec-qrels", qrels) == b"301 0 FBIS3-10082 2\n1 4.5 x -1\n"


@pytest.mark.parametrize(
    "qrel",
    [
        Qrel("3 01", "a", 1),
        Qrel("301", "a b", 1),
        Qrel("301", "a\tb", 1),
        Qrel("301", "a\nb", 1),
        Qrel("", "a", 1),
        Qrel("301", "", 1),
        Qrel("301", "", 1, "0 a"),
        Qrel("301", "a", 1, "Q 0"),
        Qrel("#301", "a", 1),
        Qrel("301", "a" * 256, 1),
    ],
)
def test_records_that_would_not_read_back_are_not_written(qrel):
    with pytest.raises(ValueError):
        write_records("trec-qrels", [qrel])
