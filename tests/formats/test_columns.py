"""Only spaces and tabs separate columns, and a line has as many as its format requires."""

from __future__ import annotations

import pytest

from formats.records import Doc, Qrel, RunLine, Topic
from formats.texts import check_id
from tests.formats.files import read, refusal, write_records

# White space for Python's `str.split`, part of an id for trec_eval.
NO_COLUMN_ENDS = ["\u00a0", "\u1680", "\u2003", "\u2028", "\u202f", "\u3000"]


@pytest.mark.parametrize("space", NO_COLUMN_ENDS)
def test_a_qrels_id_keeps_non_ascii_white_space(space):
    qrels = [Qrel(f"9{space}1", f"a{space}b", 1), Qrel("902", "c", 0)]

    assert read("trec-qrels", f"9{space}1 0 a{space}b 1\n902\t0  c 0\n") == qrels
    assert read("trec-qrels", write_records("trec-qrels", qrels)) == qrels


def test_a_run_id_keeps_a_no_break_space():
    lines = [RunLine("901", "a\u00a0b", 21, 0.5789, "irc")]

    assert read("trec-run", "901 Q0 a\u00a0b 21 0.5789 irc\n") == lines
    assert read("trec-run", write_records("trec-run", lines)) == lines


@pytest.mark.parametrize("name", ["docs-jsonl", "trec-docs"])
def test_a_document_id_keeps_a_no_break_space(name):
    docs = [Doc("a\u00a0b", "", "t")]

    assert read(name, write_records(name, docs)) == docs


@pytest.mark.parametrize("name", ["trec-topics", "trec-topics-xml", "topics-json"])
def test_a_topic_number_keeps_a_no_break_space_at_its_end(name):
    topics = [Topic("901\u00a0", "t")]

    assert read(name, write_records(name, topics)) == topics


def test_only_spaces_separate_a_smart_code():
    assert read("smart-qrels", "1 18\u00a04 2\n") == [Qrel("1", "18\u00a04", 2)]


@pytest.mark.parametrize("space", [" ", "\t", "\n", "\v", "\f", "\r"])
def test_an_id_with_ascii_white_space_is_refused(space):
    with pytest.raises(ValueError, match="contains white space"):
        check_id(f"a{space}b", "doc_id")


@pytest.mark.parametrize(
    ("name", "line", "count"),
    [
        ("trec-qrels", "901 0\u00a0a 1", "3 columns"),
        ("trec-qrels", "901 0 a b 1", "5 columns"),
        ("trec-qrels", "\u00a0", "1 column"),
        ("trec-run", "901 Q0\u00a0a 1 0.5 irc", "5 columns"),
        ("trec-run", "901 Q0 a b 21 0.5789 irc", "7 columns; does an id contain a space?"),
        ("trec-run", "901 Q0 a 5 21 0.5789 irc", "7 columns; does an id contain a space?"),
    ],
)
def test_a_wrong_number_of_columns_is_refused(name, line, count):
    good = "1 0 a 1\n" if name == "trec-qrels" else "1 Q0 a 1 0.5 irc\n"

    error = refusal(name, f"{good}{line}\n")

    assert error.line == 2
    assert error.message.endswith(f"this has {count}")


def test_a_form_feed_does_not_separate_columns_and_is_not_allowed_in_an_id():
    error = refusal("trec-qrels", "1 0 a 1\n1 0 a\fb 1\n")

    assert (error.line, error.message) == (2, "doc_id 'a\\x0cb' contains white space")


@pytest.mark.parametrize("score", ["\u0663", "1\u00a0", "\u00a01"])
def test_a_score_that_is_not_ascii_is_refused(score):
    error = refusal("trec-run", f"1 Q0 a 1 0.5 irc\n1 Q0 b 2 {score} irc\n")

    assert (error.line, "is not a number" in error.message) == (2, True)


@pytest.mark.parametrize("relevance", ["1\u00a0", "\u0661"])
def test_a_relevance_that_is_not_ascii_is_refused(relevance):
    error = refusal("trec-qrels", f"1 0 a 1\n1 0 b {relevance}\n")

    assert (error.line, "is not a whole number" in error.message) == (2, True)
