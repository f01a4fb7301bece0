"""A file or an archive shows its format by its beginning, or by the names in it."""

from __future__ import annotations

import gzip
import io
import json
import zipfile

import pytest

from formats.recognition import recognize
from tests.formats.test_wrong_format import EXAMPLES

FOLDERS = {
    "followtable": ["query_instruction.json", "tables/1.json"],
    "multi-infosearch-folder": ["final_sorted.jsonl", "query-doc.json"],
    "infosearch": ["queries.jsonl", "corpus.jsonl", "qrels_og/test.tsv"],
    "mteb": ["queries.jsonl", "instructions.jsonl", "qrels.jsonl"],
    "hf": ["README.md", "queries.jsonl", "instructions.jsonl", "qrels.jsonl"],
    "beir": ["queries.jsonl", "corpus.jsonl", "qrels/test.tsv"],
}


def packed(names: list[str], folder: str = "") -> io.BytesIO:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in names:
            archive.writestr(folder + name, "x\n")
    return stream


def name_of(stream: io.BytesIO) -> str | None:
    found = recognize(stream)
    assert stream.tell() == 0
    return None if found is None else found.name


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_file_is_recognized_by_its_beginning_packed_or_not(name):
    content = EXAMPLES[name].encode()

    assert name_of(io.BytesIO(content)) == name
    assert name_of(io.BytesIO(gzip.compress(content))) == name


@pytest.mark.parametrize("kind", ["claim", "generated"])
def test_a_file_that_begins_with_claims_is_recognized_as_pairs(kind):
    line = {"type": kind, "pair_id": "301_1", "query_id": "301", "doc_id": "A", "relevance": 1}

    assert name_of(io.BytesIO(json.dumps(line).encode())) == "pairs-jsonl"


@pytest.mark.parametrize("kind", ["review", "decision"])
def test_a_file_that_begins_with_reviews_or_decisions_is_recognized_as_judgments(kind):
    line = {"type": kind, "pair_id": "301_1", "query_id": "301", "version": 1}

    assert name_of(io.BytesIO(json.dumps(line).encode())) == "judgments-jsonl"


def test_pairs_whose_instructions_are_not_written_yet_are_recognized():
    line = {"query_id": "21", "pair_id": "21_a", "category": "C1"}

    assert name_of(io.BytesIO(json.dumps(line).encode())) == "pairs-jsonl"


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_is_recognized_by_the_names_in_it(name):
    assert name_of(packed(FOLDERS[name])) == name
    assert name_of(packed(FOLDERS[name], folder="set/")) == name


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"Nothing that is known.\n",
        b"\x1f\x8b broken",
        b"\xff\xfe\x00",
        b"query-id\tcorpus-id\tscore\n",  # One file of a BEIR folder.
    ],
)
def test_what_is_not_clear_is_not_guessed(content):
    assert name_of(io.BytesIO(content)) is None


def test_an_archive_of_other_files_or_with_unsafe_names_is_not_recognized():
    assert name_of(packed(["picture.png"])) is None
    assert name_of(packed(["../queries.jsonl", "corpus.jsonl"])) is None
