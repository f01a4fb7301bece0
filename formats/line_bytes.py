"""The bytes of a text file: line ends, control characters, signatures of other files."""

from __future__ import annotations

import re

CONTROL_IN_LINE = re.compile("[\x00-\x08\x0b\x0d-\x1f\x7f]")


_CONTROL_BYTES = bytes(code for code in range(128) if CONTROL_IN_LINE.match(chr(code)))


CR_ALONE = "the lines end in CR only, as on old Macs; save the file with LF or CR LF line ends"


ZIP = b"PK\x03\x04"
ZIP_ARCHIVE = "this is a zip archive; unpack it and give the file inside"

NULL_BYTES = (
    "its first line has null bytes: this is a binary file, or text saved as UTF-16; "
    "save it as text in UTF-8"
)

_UNPACK = "unpack it, or compress it with gzip"
_SAVE_TABLE = "save its table as CSV or JSON lines"
_OFFICE = f"this is an Office file, such as a spreadsheet; {_SAVE_TABLE}"

# The first bytes of other kinds of file. Office files are zip archives, known by the first name in
# them.
_OTHER_KINDS = (
    (rb"%PDF-", f"this is a PDF; {_SAVE_TABLE}"),
    (rb"PK\x03\x04.{26}(\[Content_Types\]|_rels/|docProps/|xl/|word/|ppt/)", _OFFICE),
    (rb"PK\x03\x04.{26}mimetypeapplication/vnd\.oasis\.opendocument", _OFFICE),
    (rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", _OFFICE),
    (rb"SQLite format 3\0", f"this is an SQLite database; {_SAVE_TABLE}"),
    (rb"PAR1\x15", f"this is a Parquet file; {_SAVE_TABLE}"),
    (rb"\xff\xfe|\xfe\xff", "this is saved as UTF-16; save it as UTF-8"),
    (rb"BZh[1-9]1AY&SY", f"this is compressed with bzip2; {_UNPACK}"),
    (rb"\xfd7zXZ\0", f"this is compressed with xz; {_UNPACK}"),
    (rb"\(\xb5/\xfd", f"this is compressed with zstd; {_UNPACK}"),
    (rb"\x1f\x9d", f"this is compressed with compress (.Z); {_UNPACK}"),
    (rb"7z\xbc\xaf\x27\x1c", "this is a 7-Zip archive; unpack it and give the file inside"),
    (rb"Rar!\x1a\x07", "this is a RAR archive; unpack it and give the file inside"),
    (rb"\x89PNG\r\n|\xff\xd8\xff", "this is a picture; give the text or table in it"),
)


def describe_other_kind(first_bytes: bytes) -> str:
    """Return what a file is, and what to do with it, if its first bytes show that it is no text.

    A zip archive may be a folder of a format, so it is not among them. "" for all other files.
    """
    for pattern, sentence in _OTHER_KINDS:
        if re.match(pattern, first_bytes, re.DOTALL):
            return sentence
    return ""


def decode_clean(body: bytes) -> str | None:
    """Return the text of some lines, their ends as line feeds; None if any of it is wrong."""
    if b"\r" in body:
        body = body.replace(b"\r\n", b"\n").removesuffix(b"\r")
    # Many times faster than searching the text. In UTF-8 no other character contains these bytes.
    if len(body.translate(None, _CONTROL_BYTES)) != len(body):
        return None
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return None
