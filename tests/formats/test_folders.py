from __future__ import annotations

import io
import stat
import zipfile

import pytest

from formats.folders import DirectoryFolder, ZipFolder, open_folder
from formats.problems import FormatError
from formats.source import open_source
from tests.formats.files import zip_files


def folder_of(data: bytes, **options) -> ZipFolder:
    return ZipFolder(io.BytesIO(data), "archive.zip", **options)


def refusal(data: bytes, **options) -> str:
    with pytest.raises(FormatError) as caught:
        folder_of(data, **options)
    return str(caught.value)


def test_a_directory_lists_its_files_with_forward_slashes(tmp_path):
    (tmp_path / "qrels").mkdir()
    (tmp_path / "queries.jsonl").write_text("one\n")
    (tmp_path / "qrels" / "test.tsv").write_text("two\n")

    with open_folder(tmp_path) as folder:
        names = folder.names()
        lines = list(folder.source("qrels/test.tsv").lines())
        place = folder.place

    assert names == ["qrels/test.tsv", "queries.jsonl"]
    assert lines == ["two"]
    assert place == (f"{tmp_path}/qrels/test.tsv", 1)


def test_links_in_a_directory_are_ignored(tmp_path):
    (tmp_path / "secret").write_text("secret\n")
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "link").symlink_to(tmp_path / "secret")
    (inside / "file").write_text("file\n")

    assert DirectoryFolder(inside).names() == ["file"]


def test_an_unknown_name_is_a_key_error(tmp_path):
    with pytest.raises(KeyError):
        DirectoryFolder(tmp_path).source("../secret")


def test_a_zip_archive_reads_like_the_directory():
    folder = folder_of(zip_files({"queries.jsonl": "one\n", "qrels/test.tsv": "two\n"}))

    assert folder.names() == ["qrels/test.tsv", "queries.jsonl"]
    assert list(folder.source("queries.jsonl").lines()) == ["one"]


def test_a_zip_archive_that_contains_the_folder_itself_reads_the_same():
    folder = folder_of(
        zip_files(
            {
                "set/queries.jsonl": "one\n",
                "set/qrels/test.tsv": "two\n",
                "__MACOSX/set/._queries.jsonl": "x",
                "set/.DS_Store": "x",
            }
        )
    )

    assert folder.names() == ["qrels/test.tsv", "queries.jsonl"]


def test_a_file_that_is_not_a_zip_archive_is_refused():
    assert refusal(b"hello") == "archive.zip: this is not a zip archive"
    assert refusal(b"%PDF-1.4\n").startswith("archive.zip: this is a PDF; ")


def test_a_spreadsheet_is_not_read_as_a_folder():
    workbook = zip_files({"[Content_Types].xml": "<Types/>", "xl/workbook.xml": "<workbook/>"})

    assert refusal(workbook).startswith(
        "archive.zip: this is an Office file, such as a spreadsheet"
    )


@pytest.mark.parametrize(
    "name", ["../evil", "a/../../evil", "/etc/evil", "C:/evil", "..\\evil", "\\evil"]
)
def test_names_that_point_outside_the_archive_are_refused(name):
    assert "points outside the archive" in refusal(zip_files({name: "x"}))


def test_links_in_a_zip_archive_are_refused():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        entry = zipfile.ZipInfo("link")
        entry.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(entry, "/etc/passwd")

    assert refusal(stream.getvalue()) == "archive.zip: the entry 'link' is a link"


def test_a_file_packed_too_tightly_is_refused():
    bomb = zip_files({"bomb.txt": b"\0" * 20_000_000})

    assert refusal(bomb) == "archive.zip: the entry 'bomb.txt' is packed more than 200 to 1"


def test_an_archive_that_unpacks_to_too_much_is_refused():
    data = zip_files({"a": "a" * 600, "b": "b" * 600})

    assert (
        refusal(data, max_total=1_000)
        == "archive.zip: the archive unpacks to more than 1,000 bytes"
    )


def test_too_many_files_are_refused():
    data = zip_files({str(number): "x" for number in range(11)})

    assert refusal(data, max_entries=10) == "archive.zip: more than 10 files in the archive"


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_the_same_name_twice_is_refused():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("a", "one")
        archive.writestr("a", "two")

    assert refusal(stream.getvalue()) == "archive.zip: the entry 'a' occurs twice"


def test_a_damaged_file_in_an_archive_is_refused():
    data = bytearray(zip_files({"a.txt": "".join(f"line {number}\n" for number in range(9_999))}))
    data[2_000] ^= 0xFF
    folder = folder_of(bytes(data))

    with pytest.raises(FormatError) as caught:
        list(folder.source("a.txt").lines())

    assert str(caught.value) == "archive.zip/a.txt: the archive is damaged at this file"


def test_problems_of_all_files_are_collected_together():
    folder = folder_of(zip_files({"a": b"\xff\n", "b": b"ok\n\xfe\n"}), collect=True)

    for name in folder.names():
        list(folder.source(name).lines())

    assert [(problem.file, problem.line) for problem in folder.problems] == [
        ("archive.zip/a", 1),
        ("archive.zip/b", 2),
    ]


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FormatError) as caught:
        open_source(tmp_path / "nothing.txt")

    assert str(caught.value) == f"{tmp_path}/nothing.txt: there is no such file"


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(FormatError) as caught:
        open_folder(tmp_path / "nothing")

    assert str(caught.value) == f"{tmp_path}/nothing: there is no such file"


def test_a_folder_instead_of_a_file_is_refused(tmp_path):
    with pytest.raises(FormatError) as caught:
        open_source(tmp_path)

    assert str(caught.value) == f"{tmp_path}: this is a folder; a file is needed"


def test_a_file_instead_of_a_folder_is_refused(tmp_path):
    (tmp_path / "file.txt").write_text("x")

    with pytest.raises(FormatError) as caught:
        open_folder(tmp_path / "file.txt")

    assert str(caught.value).endswith("this is a file; a folder or a zip archive is needed")


def test_the_command_accepts_a_zip_archive_as_a_folder(tmp_path):
    (tmp_path / "set.zip").write_bytes(zip_files({"queries.jsonl": "one\n"}))

    with open_folder(tmp_path / "set.zip") as folder:
        assert folder.names() == ["queries.jsonl"]


def test_an_unreadable_file_is_named(tmp_path, monkeypatch):
    file = tmp_path / "closed.txt"
    file.write_text("x")

    def forbidden(self, *_):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr("pathlib.Path.open", forbidden)

    with pytest.raises(FormatError, match="permission denied"):
        open_source(file)
