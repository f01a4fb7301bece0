"""Unpack gzip data and read entries of zip archives, within limits on bytes and ratio."""

from __future__ import annotations

import lzma
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import IO, TypeVar

from formats.line_bytes import describe_other_kind

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
