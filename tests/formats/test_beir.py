from __future__ import annotations

import io
import zipfile

import pytest

from formats.folders import DirectoryFolder
from formats.records import Doc, Qrel, Topic
from formats.registry import lookup
from tests.formats.files import read, read_collecting, refusal, write_records

QUERIES = '{"_id": "q1", "text": "harbours", "metadata": {}}\n'
CORPUS = '{"_id": "d1", "title": "T", "text": "t", "metadata": {}}\n'
QRELS = "query-id\tcorpus-id\tscore\r\nq1\td1\t1\r\n"


def test_queries_come_before_documents_and_documents_before_qrels():
    assert read(
        "beir", {"queries.jsonl": QUERIES, "corpus.jsonl": CORPUS, "qrels/test.tsv": QRELS}
    ) == [Topic("q1", "harbours"), Doc("d1", "T", "t"), Qrel("q1", "d1", 1)]


def test_a_directory_reads_like_the_archive(tmp_path):
    (tmp_path / "qrels").mkdir()
    (tmp_path / "queries.jsonl").write_text(QUERIES)
    (tmp_path / "qrels" / "test.tsv").write_text(QRELS)

    with DirectoryFolder(tmp_path) as folder:
        records = list(lookup("beir").read(folder))

    assert records == [Topic("q1", "harbours"), Qrel("q1", "d1", 1)]


def test_a_query_and_a_document_may_have_the_same_id():
    records = read(
        "beir",
        {
            "queries.jsonl": '{"_id": "5"}\n',
            "corpus.jsonl": '{"_id": "5"}\n',
            "qrels/a.tsv": "5\t5\t1",
        },
    )

    assert records == [Topic("5", ""), Doc("5"), Qrel("5", "5", 1)]


def test_every_split_is_read():
    records = read(
        "beir",
        {
            "queries.jsonl": QUERIES,
            "qrels/train.tsv": QRELS.replace("d1", "d2"),
            "qrels/test.tsv": QRELS,
            "qrels/dev.tsv": "q1\td3\t0\n",
        },
    )

    assert records[1:] == [Qrel("q1", "d3", 0), Qrel("q1", "d1", 1), Qrel("q1", "d2", 1)]


def test_queries_beside_the_queries_are_read():
    records = read("beir", {"queries.jsonl": QUERIES, "only_queries.jsonl": '{"_id": 0}\n'})

    assert records == [Topic("0", ""), Topic("q1", "harbours")]


def test_an_instruction_joined_to_the_query_is_separated():
    line = (
        '{"_id": "0_0", "text": "Only sea harbours. [SEP] harbours", "metadata": '
        '{"origin_query": "harbours", "instruction": "Only sea harbours."}}'
    )

    assert read("beir", {"queries.jsonl": line}) == [
        Topic("0_0", "harbours", "", "Only sea harbours.")
    ]


def test_repeated_lines_are_accepted_and_scores_may_be_floats():
    qrels = "query-id\tcorpus-id\tscore\nq1\td1\t1.0\nq1\td1\t1\n"

    assert read("beir", {"qrels/test.tsv": qrels}) == [Qrel("q1", "d1", 1)] * 2


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            "q1 d1 1",
            "a line has 3 columns separated by tabs (query-id corpus-id score), this has 1",
        ),
        ("q1\td 1\t1", "corpus-id 'd 1' contains white space"),
        ("q1\td1\t0.4", "the relevance 0.4 is a fraction; relevance is a whole number"),
        ("q1\td1\thigh", "the relevance 'high' is not a whole number"),
        ("q1\td9\t0", "document d9 of query q1 has relevance 0 here and 1 before"),
    ],
)
def test_bad_qrels_lines_name_file_and_line(line, sentence):
    error = refusal("beir", {"qrels/test.tsv": f"query-id\tcorpus-id\tscore\nq1\td9\t1\n{line}\n"})

    assert (error.file, error.line, error.message) == ("folder/qrels/test.tsv", 3, sentence)


def test_splits_may_not_contradict_each_other():
    error = refusal("beir", {"qrels/a.tsv": "q1\td1\t1\n", "qrels/b.tsv": "q1\td1\t0\n"})

    assert (error.file, error.line) == ("folder/qrels/b.tsv", 1)


def test_the_same_query_or_document_twice_is_refused():
    records, problems = read_collecting(
        "beir", {"queries.jsonl": QUERIES * 2, "corpus.jsonl": CORPUS * 2}
    )

    assert len(records) == 2
    assert [problem.partition(": {")[0] for problem in problems] == [
        "folder/queries.jsonl, line 2: query q1 occurs twice",
        "folder/corpus.jsonl, line 2: document d1 occurs twice",
    ]


def test_a_folder_without_the_files_of_the_format_is_refused():
    assert str(refusal("beir", {"readme.txt": "hello\n"})) == (
        "folder: no queries.jsonl, corpus.jsonl or qrels/*.tsv in this folder"
    )


def test_an_empty_part_is_refused():
    error = refusal("beir", {"queries.jsonl": QUERIES, "corpus.jsonl": ""})

    assert str(error) == "folder/corpus.jsonl: the file is empty"


def test_a_zip_bomb_is_refused():
    error = refusal("beir", {"corpus.jsonl": b" " * 20_000_000})

    assert "packed more than 200 to 1" in str(error)


def test_the_archive_has_the_files_that_evaluators_read():
    records = [Qrel("q1", "d1", 2, "4.5"), Doc("d1", "T", "<14"), Topic("q1", "t", "", "n")]

    with zipfile.ZipFile(io.BytesIO(write_records("beir", records))) as archive:
        files = {name: archive.read(name).decode() for name in archive.namelist()}

    assert files == {
        "queries.jsonl": '{"_id": "q1", "text": "t", "metadata": {"narrative": "n"}}\n',
        "corpus.jsonl": (
            '{"_id": "d1", "title": "T", "text": "<14", "metadata": {"markup": "plain"}}\n'
        ),
        "qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t2\n",
    }


def test_the_same_records_give_the_same_bytes():
    records = [Topic("q1", "t"), Doc("d1", "T", "x" * 10_000), Qrel("q1", "d1", 1)]

    assert write_records("beir", records) == write_records("beir", records)
