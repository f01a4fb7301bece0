from __future__ import annotations

import pytest

from formats.records import Doc, Qrel, Topic
from tests.formats.files import read, refusal

DOCUMENTS = """.I 1
.T
flow around a
wing .
.A
somebody,a.
.B
j. ae. scs. 25, 1958, 324.
.W
flow around a
wing .
we measured it .
.I 471
.T
.A
.B
.W
"""


def test_documents_keep_number_title_and_text():
    assert read("smart-docs", DOCUMENTS) == [
        Doc("1", "flow around a wing .", "flow around a\nwing .\nwe measured it ."),
        Doc("471", "", ""),
    ]


def test_query_ids_are_positions_as_in_the_qrels():
    text = ".I 001\n.W\nwhat laws\nhold .\n.I 004\n.W\nwhat else .\n"

    assert read("smart-queries", text) == [
        Topic("1", "what laws hold ."),
        Topic("2", "what else ."),
    ]


def test_codes_of_the_qrels_are_kept_unchanged():
    assert read("smart-qrels", "1 184 2 \n1 29 4 \n225 1188 -1") == [
        Qrel("1", "184", 2),
        Qrel("1", "29", 4),
        Qrel("225", "1188", -1),
    ]


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("smart-docs", "words\n.I 1\n", "file, line 1: text outside of a section"),
        (
            "smart-docs",
            ".I 1 2\n.W\nx\n",
            "file, line 1: the number after .I '1 2' contains white space",
        ),
        (
            "smart-docs",
            ".I 1\n.W\nx\n.I 1\n.W\ny\n",
            "file, line 4: document 1 was already on line 1",
        ),
        ("smart-qrels", "1 2 3\n1 2\n", "file, line 2: a line has 3 columns (query document code)"),
        (
            "smart-qrels",
            "1 2 3\n1 2 4\n",
            "file, line 2: document 2 of query 1 has code 4 here and 3 on",
        ),
        ("smart-qrels", "1 2 3\n1 3 0.5\n", "file, line 2: the relevance 0.5 is a fraction"),
    ],
)
def test_bad_files_are_refused_with_a_sentence(name, text, sentence):
    assert str(refusal(name, text)).startswith(sentence)
