"""A document has the score of its best passage."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from formats.passages import rank_documents
from formats.records import RunLine

RUN = """\
1 Q0 a_1 1 9.5 bm25
1 Q0 b_1 2 9.0 bm25
1 Q0 a_2 3 8.0 bm25
1 Q0 c_x_12 4 9.25 bm25
2 Q0 a_3 1 1.0 bm25
2 Q0 b_7 2 1.0 bm25
"""
BY_HAND = [
    RunLine("1", "a", 1, 9.5, "bm25"),
    RunLine("1", "c_x", 2, 9.25, "bm25"),
    RunLine("1", "b", 3, 9.0, "bm25"),
    RunLine("2", "b", 1, 1.0, "bm25"),
    RunLine("2", "a", 2, 1.0, "bm25"),
]


def lines(text):
    for line in text.splitlines():
        query_id, _, doc_id, rank, score, tag = line.split()
        yield RunLine(query_id, doc_id, int(rank), float(score), tag)


def test_the_best_passage_counts_and_ties_go_by_descending_document_id():
    assert list(rank_documents(lines(RUN))) == BY_HAND


@pytest.mark.parametrize("doc_id", ["a", "_1", "a_", "a_x", "a_²"])
def test_an_id_that_is_not_of_a_passage_is_refused(doc_id):
    with pytest.raises(ValueError, match="is not the id of a passage"):
        list(rank_documents([RunLine("1", doc_id, 1, 1.0, "t")]))


def test_the_command_writes_a_run_but_does_not_overwrite_a_file(tmp_path):
    (tmp_path / "passages.run").write_text(RUN)
    target = tmp_path / "documents.run"

    call_command("maxp", str(tmp_path / "passages.run"), output=str(target), stdout=StringIO())

    assert list(lines(target.read_text())) == BY_HAND
    with pytest.raises(CommandError, match="already exists"):
        call_command("maxp", str(tmp_path / "passages.run"), output=str(target))


def test_the_command_refuses_a_run_of_documents_and_writes_nothing(tmp_path):
    (tmp_path / "run").write_text("1 Q0 FT911-3 1 2.0 bm25\n")

    with pytest.raises(CommandError, match=r"run: FT911-3 is not the id of a passage"):
        call_command("maxp", str(tmp_path / "run"), output=str(tmp_path / "out"))

    assert not (tmp_path / "out").exists()
