from __future__ import annotations

import gzip
import io
import tracemalloc

import pytest

from formats.problems import FormatError
from formats.source import Source


def lines_of(data: bytes, **options) -> list[str]:
    return list(Source(data, "file", **options).lines())


def refusal(data: bytes, **options) -> FormatError:
    with pytest.raises(FormatError) as caught:
        lines_of(data, **options)
    return caught.value


class Trickle(io.RawIOBase):
    """A stream that returns one byte at a time, like a slow connection."""

    def __init__(self, data: bytes) -> None:
        self.data = io.BytesIO(data)

    def read(self, size: int = -1) -> bytes:
        return self.data.read(1)


class Endless(io.RawIOBase):
    """A stream of `prefix`, then `length` times the letter a, generated while reading."""

    def __init__(self, prefix: bytes, length: int, suffix: bytes = b"") -> None:
        self.prefix = prefix
        self.suffix = suffix
        self.left = length

    def read(self, size: int = -1) -> bytes:
        if self.prefix:
            chunk, self.prefix = self.prefix, b""
        elif self.left:
            chunk = b"a" * min(size, self.left)
            self.left -= len(chunk)
        else:
            chunk, self.suffix = self.suffix, b""
        return chunk


@pytest.mark.parametrize(
    "data",
    [
        b"one\ntwo\nthree\n",
        b"one\ntwo\nthree",
        b"one\r\ntwo\r\nthree\r\n",
        b"one\r\ntwo\r\nthree\r",
        b"\xef\xbb\xbfone\ntwo\nthree\n",
    ],
    ids=["line feeds", "no last line end", "CR LF", "cut inside CR LF", "byte order mark"],
)
def test_lines_come_without_their_ends(data):
    assert lines_of(data) == ["one", "two", "three"]


def test_a_stream_may_come_byte_by_byte():
    source = Source(Trickle("één\ntwee\n".encode()), "file")

    assert list(source.lines()) == ["één", "twee"]


def test_gzip_is_unpacked_regardless_of_the_name():
    assert lines_of(gzip.compress(b"one\ntwo\n")) == ["one", "two"]


def test_gzip_of_several_members_is_read_to_the_end():
    joined = gzip.compress(b"one\n") + gzip.compress(b"two\n") + b"\0" * 512

    assert lines_of(joined) == ["one", "two"]


def test_gzip_may_come_byte_by_byte():
    source = Source(Trickle(gzip.compress(b"one\ntwo\n") + gzip.compress(b"three\n")), "file")

    assert list(source.lines()) == ["one", "two", "three"]


@pytest.mark.parametrize("length", [3, 12, 30])
def test_truncated_gzip_is_refused(length):
    read_whole = gzip.compress(b"".join(b"line %d\n" % number for number in range(1_000)))

    error = refusal(read_whole[:length])

    assert str(error) == "file: the gzip file is cut off before its end"


def test_damaged_gzip_is_refused():
    read_whole = bytearray(
        gzip.compress(b"".join(b"line %d\n" % number for number in range(1_000)))
    )
    read_whole[100] ^= 0xFF

    assert str(refusal(bytes(read_whole))) == "file: the gzip data is damaged"


@pytest.mark.parametrize(
    "data", [b"", b"\n\n", b"  \r\n\t\n", b"\xef\xbb\xbf", gzip.compress(b"", mtime=0)]
)
def test_an_empty_file_is_refused(data):
    assert str(refusal(data)) == "file: the file is empty"


def test_wrong_encoding_names_line_and_byte():
    error = refusal("one\ntwo\ncafé\n".encode("latin-1"))

    assert (error.line, error.message) == (3, "not UTF-8: byte 4 of the line is 0xe9")
    assert str(error) == "file, line 3: not UTF-8: byte 4 of the line is 0xe9: caf�"


def test_utf_16_is_named():
    assert str(refusal("one\n".encode("utf-16"))) == (
        "file: this is saved as UTF-16; save it as UTF-8"
    )


@pytest.mark.parametrize("data", [bytes(range(256)) * 10, "one\ntwo\n".encode("utf-16-le")])
def test_a_binary_file_is_refused_as_a_whole(data):
    source = Source(data, "file", collect=True)

    assert list(source.lines()) == []
    [problem] = source.problems
    assert str(problem) == (
        "file: its first line has null bytes: this is a binary file, or text saved as UTF-16; "
        "save it as text in UTF-8"
    )


def test_a_qrels_line_may_begin_like_a_file_of_another_kind():
    assert lines_of(b"PAR1 0 a 1\n") == ["PAR1 0 a 1"]


@pytest.mark.parametrize(
    ("beginning", "name"),
    [
        (b"PK\x03\x04", "zip"),
        (b"BZh91AY&SY", "bzip2"),
        (b"\xfd7zXZ\x00", "xz"),
        (b"(\xb5/\xfd", "zstd"),
        (b"\x1f\x9d\x90", "compress"),
        (b"%PDF-1.4\n", "a PDF; save its table as CSV or JSON lines"),
        (b"SQLite format 3\x00", "SQLite"),
        (
            b"PK\x03\x04" + bytes(26) + b"[Content_Types].xml",
            "an Office file, such as a spreadsheet",
        ),
        (b"PK\x03\x04" + bytes(26) + b"docProps/app.xml", "an Office file"),
        (
            b"PK\x03\x04" + bytes(26) + b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet",
            "an Office file",
        ),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Office file"),
        (b"PAR1\x15\x04", "Parquet"),
        (b"7z\xbc\xaf\x27\x1c", "7-Zip"),
        (b"Rar!\x1a\x07\x01\x00", "RAR"),
        (b"\x89PNG\r\n\x1a\n", "picture"),
        (b"\xff\xd8\xff\xe0", "picture"),
    ],
)
def test_other_kinds_of_file_are_named(beginning, name):
    assert name in str(refusal(beginning + b"x" * 100))


@pytest.mark.parametrize(
    ("character", "code"), [(b"\0", "U+0000"), (b"\x1b", "U+001B"), (b"\x7f", "U+007F")]
)
def test_a_control_character_names_its_place(character, code):
    error = refusal(b"one\ntw" + character + b"o\nthree\n")

    assert (error.line, error.message) == (2, f"control character {code} at position 3")


def test_a_carriage_return_within_a_line_hints_at_line_ends():
    error = refusal(b"one\ntw\ro\nthree\n")

    assert (error.line, error.message) == (
        2,
        "control character U+000D at position 3; lines end in LF or CR LF, not in CR only",
    )


@pytest.mark.parametrize("data", [b"one\rtwo\rthree\r", b"one\rtwo", b"one\r" * 5_000_000])
def test_lines_that_end_only_in_carriage_returns_are_refused(data):
    assert str(refusal(data)) == (
        "file: the lines end in CR only, as on old Macs; save the file with LF or CR LF line ends"
    )


def test_a_binary_file_without_a_line_feed_is_not_taken_for_an_old_mac_text():
    assert "this is a binary file" in str(refusal(b"\x7fELF\0\0one\rtwo"))


def test_gzip_inside_gzip_is_named():
    assert str(refusal(gzip.compress(gzip.compress(b"one\n")))) == (
        "file: this is gzip inside gzip; unpack it once before loading"
    )


def test_tabs_and_form_feeds_are_text():
    assert lines_of(b"a\tb\n\fc\n") == ["a\tb", "\fc"]


def test_only_line_feeds_end_lines():
    assert lines_of("a\u2028b\x85c\n".encode()) == ["a\u2028b\x85c"]


def test_a_line_over_the_limit_names_line_and_limit():
    error = refusal(b"short\n" + b"a" * 101 + b"\nshort\n", max_line=100)

    assert (error.line, error.message) == (2, "the line is longer than 100 bytes")


def test_a_line_of_exactly_the_limit_is_read():
    assert lines_of(b"a" * 100 + b"\n" + b"b" * 100, max_line=100) == ["a" * 100, "b" * 100]


def test_a_line_of_two_gigabytes_is_refused_in_little_memory():
    source = Source(Endless(b"short\n", 2_000_000_000), "file")

    tracemalloc.start()
    with pytest.raises(FormatError) as caught:
        list(source.lines())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert (caught.value.line, caught.value.message) == (2, "the line is longer than 16 MiB")
    assert peak < 64 * 1024 * 1024


def test_lines_after_one_over_the_limit_are_read_when_collecting():
    source = Source(
        Endless(b"one\n", 3_000_000, b"\nthree\nfour"), "file", collect=True, max_line=1_000_000
    )

    numbered = [(source.line, line) for line in source.lines()]

    assert numbered == [(1, "one"), (3, "three"), (4, "four")]
    assert [problem.line for problem in source.problems] == [2]


def test_collecting_skips_bad_lines_and_continues():
    source = Source(b"one\nt\xffo\nthree\nf\x00ur\nfive\n", "file", collect=True)

    numbered = [(source.line, line) for line in source.lines()]

    assert numbered == [(1, "one"), (3, "three"), (5, "five")]
    assert [problem.line for problem in source.problems] == [2, 4]


def test_collecting_counts_all_problems_and_keeps_a_thousand():
    source = Source(b"\xff\n" * 1_500, "file", collect=True)

    assert list(source.lines()) == []
    assert source.problem_count == 1_500
    assert len(source.problems) == 1_000


def test_collecting_a_truncated_gzip_gives_one_problem():
    source = Source(gzip.compress(b"one\n" * 100_000)[:-10], "file", collect=True)

    list(source.lines())

    assert [str(problem) for problem in source.problems] == [
        "file: the gzip file is cut off before its end"
    ]


def test_line_numbers_are_correct_across_blocks():
    data = b"".join(b"%d\n" % number for number in range(1, 200_001))
    source = Source(data, "file")

    assert all(source.line == int(line) for line in source.lines())
    assert source.line == 200_000


def test_a_source_can_be_read_only_once():
    source = Source(b"one\n", "file")
    list(source.lines())

    with pytest.raises(RuntimeError, match="read once"):
        list(source.lines())


def test_reading_a_whole_file_is_bounded():
    source = Source(b"one\ntwo\n" * 100, "file")

    with pytest.raises(FormatError, match="longer than 500 characters"):
        source.read_whole(limit=500)


def test_a_problem_shows_the_beginning_of_its_line_on_one_line():
    source = Source(b"tab\there " + b"x" * 500 + b"\n", "file")
    for _ in source.lines():
        with pytest.raises(FormatError) as caught:
            source.refuse("no good")

    shown = str(caught.value)
    assert shown.startswith("file, line 1: no good: tab\\there xxx")
    assert len(shown) < 160
