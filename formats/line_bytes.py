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

# How other kinds of file begin.
_OTHER_KINDS = (
    ((b"%PDF-",), f"this is a PDF; {_SAVE_TABLE}"),
    ((b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",), _OFFICE),
    ((b"SQLite format 3\0",), f"this is an SQLite database; {_SAVE_TABLE}"),
    ((b"PAR1\x15",), f"this is a Parquet file; {_SAVE_TABLE}"),
    ((b"\xff\xfe", b"\xfe\xff"), "this is saved as UTF-16; save it as UTF-8"),
    (
        tuple(b"BZh%d1AY&SY" % level for level in range(1, 10)),
        f"this is compressed with bzip2; {_UNPACK}",
    ),
    ((b"\xfd7zXZ\0",), f"this is compressed with xz; {_UNPACK}"),
    ((b"\x28\xb5\x2f\xfd",), f"this is compressed with zstd; {_UNPACK}"),
    ((b"\x1f\x9d",), f"this is compressed with compress (.Z); {_UNPACK}"),
    ((b"7z\xbc\xaf\x27\x1c",), "this is a 7-Zip archive; unpack it and give the file inside"),
    ((b"Rar!\x1a\x07",), "this is a RAR archive; unpack it and give the file inside"),
    ((b"\x89PNG\r\n", b"\xff\xd8\xff"), "this is a picture; give the text or table in it"),
)
# Office files are zip archives; this is the first name in one, after the 30 bytes of its head.
_OFFICE_NAMES = (
    *(b"[Content_Types]", b"_rels/", b"docProps/", b"xl/", b"word/", b"ppt/"),
    b"mimetypeapplication/vnd.oasis.opendocument",
)


def describe_other_kind(first_bytes: bytes) -> str:
    """Return what a file is, and what to do with it, if its first bytes show that it is no text.

    A zip archive may be a folder of a format, so it is not among them. "" for all other files.
    """
    if first_bytes.startswith(ZIP) and first_bytes[30:].startswith(_OFFICE_NAMES):
        return _OFFICE
    for beginnings, sentence in _OTHER_KINDS:
        if first_bytes.startswith(beginnings):
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
