"""The bytes of a text file: line ends, control characters, signatures of other files."""

from __future__ import annotations

import re

CONTROL_IN_LINE = re.compile("[\x00-\x08\x0b\x0d-\x1f\x7f]")


_CONTROL_BYTES = bytes(code for code in range(128) if CONTROL_IN_LINE.match(chr(code)))


CR_ALONE = "the lines end in CR only, as on old Macs; save the file with LF or CR LF line ends"


FOREIGN_MAGIC = (
    (b"PK\x03\x04", "this is a zip archive; unpack it and give the file inside"),
    (b"BZh91AY&SY", "this is compressed with bzip2; unpack it, or compress it with gzip"),
    (b"\xfd7zXZ\x00", "this is compressed with xz; unpack it, or compress it with gzip"),
    (b"(\xb5/\xfd", "this is compressed with zstd; unpack it, or compress it with gzip"),
    (b"\x1f\x9d", "this is compressed with compress (.Z); unpack it, or compress it with gzip"),
    (b"\xff\xfe", "this is UTF-16; save it as UTF-8"),
    (b"\xfe\xff", "this is UTF-16; save it as UTF-8"),
    (b"SQLite format 3\x00", "this is an SQLite database, not a text file"),
    (b"%PDF-", "this is a PDF, not a text file"),
)


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
