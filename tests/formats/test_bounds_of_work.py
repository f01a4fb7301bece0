"""The unpacked size of a small file, and the number of blank lines read, are bounded."""

from __future__ import annotations

import csv
import gzip
import io

import pytest

from formats import file_bytes
from formats.folders import ZipFolder
from formats.problems import FormatError
from formats.registry import FORMATS, lookup
from formats.source import MAX_BLANK, Source
from tests.formats.files import read, refusal, zip_files

MIB = 1024 * 1024
FILES = [name for name in FORMATS if FORMATS[name].kind == "file"]


class Counted(io.BytesIO):
    """A stream that counts how many bytes were read from it."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.taken = 0

    def read(self, size: int | None = -1) -> bytes:
        chunk = super().read(size)
        self.taken += len(chunk)
        return chunk


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("line", [b"\n", b"   \n", b" \t\r\n"])
def test_a_file_of_blank_lines_is_refused_at_its_beginning(name, line):
    stream = Counted(line * (6 * MIB // len(line)))

    with pytest.raises(FormatError):
        list(lookup(name).read(Source(stream, "file")))

    assert stream.taken <= MIB


def test_blank_lines_between_other_lines_are_read():
    text = b"1 0 a 1\n" + b"\n" * MAX_BLANK + b"1 0 b 1\n"

    assert len(list(lookup("trec-qrels").read(Source(text, "file")))) == 2


def test_ten_blank_lines_for_each_other_line_are_read():
    text = (b"x\n" + b"\n" * 10) * 15_000

    assert len(list(Source(text, "file").lines())) == 165_000


def test_gzipped_line_ends_are_refused():
    error = refusal("trec-qrels", gzip.compress(b"\n" * 8 * MIB))

    assert error.message == "the file has more than 100,000 blank lines, and little else"


def test_a_gzip_bomb_stops_at_four_mebibytes():
    packed = gzip.compress(b"301 0 D1 1\n" * 3_000_000)
    lines = Source(packed, "bomb.gz", collect=True).lines()

    read = sum(len(line) + 1 for line in lines)

    assert 3 * MIB < read <= 4 * MIB + file_bytes.CHUNK


def test_a_bomb_after_incompressible_data_stops_after_four_mebibytes():
    noise = b"".join(b"%x 0 D1 1\n" % (number * 2_654_435_761) for number in range(10_000))
    packed = gzip.compress(noise + b"301 0 D1 1\n" * 1_500_000)
    source = Source(packed, "bomb.gz", collect=True)

    read = sum(len(line) + 1 for line in source.lines())

    assert [problem.message for problem in source.problems] == [
        "the gzip data is packed more than 200 to 1"
    ]
    assert read <= 9 * MIB


def test_a_gzip_file_has_a_limit_in_bytes_too(monkeypatch):
    monkeypatch.setattr(file_bytes.Budget.__init__, "__defaults__", (10_000,))

    error = refusal("trec-qrels", gzip.compress(b"1 0 a 1\n" * 2_000))

    assert error.message == (
        "the gzip data unpacks to more than 10,000 bytes; unpack the file, or load it in parts"
    )


def test_gzip_files_of_one_archive_share_their_limit():
    part = gzip.compress(b'{"_id": "q", "text": "t"}\n' * 20)
    data = zip_files({"queries.jsonl.gz": part, "more-queries.jsonl.gz": part})

    folder = ZipFolder(io.BytesIO(data), "a.zip", collect=True, max_total=900)
    for name in folder.names():
        list(folder.source(name).lines())

    assert str(folder.problems[0]) == (
        "a.zip/queries.jsonl.gz: the gzip data unpacks to more than 900 bytes; "
        "unpack the file, or load it in parts"
    )
    assert folder.problem_count == 1


def test_an_archive_of_many_tightly_packed_small_files_is_refused():
    data = zip_files({f"{number}.txt": b"\0" * MIB for number in range(65)})

    with pytest.raises(FormatError, match="the archive unpacks to more than 67,108,864 bytes"):
        ZipFolder(io.BytesIO(data), "a.zip")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("judgments-csv", "query_id,doc_id,annotator,relevance,note\n1,a,ada,1,{}\n"),
        ("filter-csv", "query_id,machine,decision,reason\n1,gpt,discard,{}\n"),
        ("multiconir", "Query1,Positive,HN1\nBooks: 1. Bees.,{},ants\n"),
        ("lara-csv", "topic_id,doc_id,prob_0,prob_1,prompt\n1,a,0.1,0.9,{}\n"),
    ],
)
def test_a_cell_of_every_table_may_be_longer_than_the_limit_of_the_csv_module(name, text):
    assert read(name, text.format("x" * 200_000))


def test_a_cell_above_the_documented_limit_is_refused_with_the_limit():
    text = "query_id,doc_id,annotator,relevance,note\n1,a,ada,1,0123456789\n"
    limit = csv.field_size_limit(9)
    try:
        error = refusal("judgments-csv", text)
    finally:
        csv.field_size_limit(limit)

    assert limit == 64 * 1024 * 1024
    assert (error.line, error.message) == (2, "a cell is longer than 67,108,864 characters")
