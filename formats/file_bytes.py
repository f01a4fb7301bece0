"""The bytes of files: signatures of other kinds, line ends, and packed data within limits."""

from __future__ import annotations

import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import IO, TypeVar

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


# --- packed data ----------------------------------------------------------------------------------

CHUNK = 256 * 1024
MAX_UNPACKED = 4 * 1024 * 1024 * 1024
"""Maximum bytes that one gzip file, or all files of one archive together, may unpack to."""

MAX_RATIO = 200
"""Data packed tighter than this for RATIO_FROM bytes is a bomb."""

RATIO_FROM = 4 * 1024 * 1024

GZIP = b"\x1f\x8b"
# How many first bytes identify a file of another kind.
HEAD = 96

T = TypeVar("T")

# Exceptions of `zipfile` and its decompressors for archives that are damaged or crafted to fail.
ZIP_FAULTS = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    IndexError,
    KeyError,
    MemoryError,
    NotImplementedError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
)
# Compression methods of zip archives that can be unpacked.
ZIP_METHODS = {
    zipfile.ZIP_STORED,
    zipfile.ZIP_DEFLATED,
    zipfile.ZIP_BZIP2,
    zipfile.ZIP_LZMA,
}


NO_ZIP = "this is not a zip archive"


class Unreadable(Exception):
    """Packed data cannot, or must not, be unpacked; the message is a sentence."""


class Budget:
    """The number of bytes that may be unpacked from gzip, shared by the files of one input."""

    def __init__(self, limit: int = MAX_UNPACKED) -> None:
        self.limit = limit
        self.spent = 0

    def spend(self, count: int) -> None:
        """Count unpacked bytes; raise Unreadable if the total exceeds the limit."""
        self.spent += count
        if self.spent > self.limit:
            raise Unreadable(
                f"the gzip data unpacks to more than {self.limit:,} bytes; "
                "unpack the file, or load it in parts"
            )


def unpack_gzip(data: bytes, read: Callable[[], bytes], budget: Budget) -> Iterator[bytes]:
    """Unpack gzip data that begins with `data` and continues with `read()`; yield it in pieces.

    There may be several members, as in files joined by `cat`. Raise Unreadable for data that is
    damaged, cut off, packed too tightly, or gzip inside gzip.
    """
    inflate = zlib.decompressobj(wbits=31)
    fed = len(data)
    # For the ratio of the current stretch: its unpacked bytes, and the packed bytes before it.
    unpacked = begun = 0
    head: bytes | None = b""
    while data:
        try:
            out = inflate.decompress(data, CHUNK)
        except zlib.error:
            raise Unreadable("the gzip data is damaged") from None
        unpacked += len(out)
        budget.spend(len(out))
        if unpacked > RATIO_FROM:
            taken = fed - len(inflate.unconsumed_tail) - len(inflate.unused_data)
            if unpacked > MAX_RATIO * (taken - begun):
                raise Unreadable(f"the gzip data is packed more than {MAX_RATIO} to 1")
            unpacked, begun = 0, taken
        if head is not None:
            out = head + out
            head = out if len(out) < HEAD else None
            if out.startswith(GZIP):
                raise Unreadable("this is gzip inside gzip; unpack it once before loading")
        if out and head is None:
            yield out
        if inflate.eof:
            # Files joined with cat are several members; tapes are padded with zeros.
            data = inflate.unused_data.lstrip(b"\0")
            while not data and (more := read()):
                fed += len(more)
                data = more.lstrip(b"\0")
            if not data:
                if head:
                    yield head
                return
            inflate = zlib.decompressobj(wbits=31)
        else:
            data = inflate.unconsumed_tail
            if not data:
                data = read()
                fed += len(data)
    raise Unreadable("the gzip file is cut off before its end")


class ZipEntry:
    """The bytes of one file in a zip archive; raises Unreadable if the archive is damaged."""

    def __init__(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> None:
        self._stream = _read_undamaged(lambda: archive.open(info))

    def read(self, size: int = -1, /) -> bytes:
        """Return at most `size` bytes; none at the end."""
        return _read_undamaged(lambda: self._stream.read(size))

    def close(self) -> None:
        """Close the stream."""
        self._stream.close()


def _read_undamaged(step: Callable[[], T]) -> T:
    try:
        return step()
    except ZIP_FAULTS as error:
        raise Unreadable("the archive is damaged at this file") from error


def open_zip(stream: IO[bytes]) -> zipfile.ZipFile:
    """Open the archive in a seekable stream; raise Unreadable if that is not possible."""
    stream.seek(0)
    if other_kind := describe_other_kind(stream.read(HEAD)):
        raise Unreadable(other_kind)
    try:
        is_zip = zipfile.is_zipfile(stream)
    except ZIP_FAULTS:
        is_zip = False
    if not is_zip:
        raise Unreadable(NO_ZIP)
    try:
        return zipfile.ZipFile(stream)
    except ZIP_FAULTS as error:
        raise Unreadable("this zip archive is damaged or of an unknown kind") from error
