"""Damaged archives and invalid file names are refused with a sentence."""

from __future__ import annotations

import io
import os
import random
import zipfile

import pytest

from formats.folders import ZipFolder, open_folder
from formats.problems import FormatError
from formats.registry import lookup
from formats.source import open_source
from tests.formats.files import zip_files

LINES = "".join(f"line {number}\n" for number in range(2_000))
METHODS = [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]


def archive(method: int) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as made:
        made.writestr("queries.jsonl", LINES)
    return stream.getvalue()


def lines_of(data: bytes) -> list[str]:
    folder = ZipFolder(io.BytesIO(data), "a.zip")
    return [line for name in folder.names() for line in folder.source(name).lines()]


def sentence(data: bytes) -> str:
    with pytest.raises(FormatError) as caught:
        lines_of(data)
    return str(caught.value)


@pytest.mark.parametrize("method", METHODS)
def test_every_compression_method_is_read(method):
    assert lines_of(archive(method)) == LINES.splitlines()


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_damaged_bzip2_and_lzma_are_refused(method):
    data = bytearray(archive(method))
    data[len(data) // 3] ^= 0xFF

    assert sentence(bytes(data)) == "a.zip/queries.jsonl: the archive is damaged at this file"


def test_another_zip_version_is_refused():
    data = bytearray(archive(zipfile.ZIP_DEFLATED))
    data[data.index(b"PK\x01\x02") + 6] = 99

    assert sentence(bytes(data)) == ("a.zip: this zip archive is damaged or of an unknown kind")


def test_an_unknown_compression_method_is_named():
    data = bytearray(archive(zipfile.ZIP_DEFLATED))
    data[data.index(b"PK\x01\x02") + 10] = 9

    assert sentence(bytes(data)) == (
        "a.zip: the entry 'queries.jsonl' is packed with an unknown method (number 9); use deflate"
    )


@pytest.mark.parametrize("at", range(42, 46))
def test_an_offset_that_was_flipped_is_refused(at):
    data = bytearray(archive(zipfile.ZIP_DEFLATED))
    data[data.index(b"PK\x01\x02") + at] ^= 0xFF

    assert sentence(bytes(data)).startswith("a.zip")


@pytest.mark.parametrize("name", ["", "."])
def test_an_entry_without_a_name_is_refused(name):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as made:
        entry = zipfile.ZipInfo("x")
        entry.filename = name
        made.writestr(entry, "text")

    assert " name" in sentence(stream.getvalue())


@pytest.mark.parametrize("method", METHODS)
def test_a_flipped_byte_causes_at_most_a_refusal(method):
    whole = archive(method)
    chance = random.Random(method)
    for _ in range(150):
        data = bytearray(whole)
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        try:
            lines_of(bytes(data))
        except FormatError:
            continue


def test_a_file_whose_name_is_not_utf_8_is_refused(tmp_path):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.txt")
    with open(path, "w", encoding="utf-8") as file:  # noqa: PTH123 (as the command gets it)
        file.write("1 0 a 1\n")

    with pytest.raises(FormatError) as caught:
        open_source(path)

    assert str(caught.value) == (
        f"{tmp_path}/caf\\udce9.txt: the file's name is not UTF-8; rename it"
    )
    str(caught.value).encode()


def test_a_file_name_in_a_folder_that_is_not_utf_8_is_printed_with_escapes(tmp_path):
    (tmp_path / "query_instruction.json").write_text("[]")
    (tmp_path / "tables").mkdir()
    with open(os.fsencode(tmp_path) + b"/tables/caf\xe9.txt", "wb") as file:  # noqa: PTH123
        file.write(b"<table></table>")

    with open_folder(tmp_path) as folder, pytest.raises(FormatError) as caught:
        list(lookup("followtable").read(folder))

    assert "caf\\udce9" in str(caught.value)
    str(caught.value).encode()


@pytest.mark.parametrize("name", ["a" * 300, "a\0b"])
def test_an_impossible_file_name_is_refused(tmp_path, name):
    with pytest.raises(FormatError, match="cannot be read"):
        open_source(tmp_path / name)


def test_an_unreadable_file_in_a_folder_is_named(tmp_path, monkeypatch):
    (tmp_path / "queries.jsonl").write_text("{}")

    def forbidden(self, *_):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr("pathlib.Path.open", forbidden)

    with pytest.raises(FormatError, match="permission denied"):
        list(lookup("beir").read(open_folder(tmp_path)))


def test_a_damaged_zip_archive_is_called_damaged(tmp_path):
    data = bytearray(zip_files({"queries.jsonl": "{}"}))
    data[data.index(b"PK\x01\x02") + 6] = 99
    (tmp_path / "a.zip").write_bytes(bytes(data))

    with pytest.raises(FormatError, match="this zip archive is damaged"):
        open_folder(tmp_path / "a.zip")
