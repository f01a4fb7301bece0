"""Where readers read from: a file as checked lines (`Source`), several files as a `Folder`.

Everything a stranger's file can do is met here once: gzip, wrong encoding, endless lines, control
characters, archives that lie. Readers see clean text and say `source.refuse(...)` when a line is
wrong.
"""

from __future__ import annotations

import io
import re
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import IO, Protocol, TypeVar, runtime_checkable

MAX_LINE = 16 * 1024 * 1024
MAX_WHOLE = 256 * 1024 * 1024
MAX_PROBLEMS = 1_000
CHUNK = 256 * 1024

# What a text may not hold: control characters other than tab, line feed, form feed and carriage
# return. PostgreSQL refuses NUL, terminals obey escape, and a stray one means a binary file.
_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f]")
_CONTROL_IN_LINE = re.compile("[\x00-\x08\x0b\x0d\x0e-\x1f\x7f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTROL_IN_ID = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")

_FOREIGN_MAGIC = (
    (b"PK\x03\x04", "this is a zip archive; unpack it and give the file inside"),
    (b"BZh", "this is compressed with bzip2; unpack it, or compress it with gzip"),
    (
        b"\xfd7zXZ\x00",
        "this is compressed with xz; unpack it, or compress it with gzip",
    ),
    (
        b"(\xb5/\xfd",
        "this is compressed with zstd; unpack it, or compress it with gzip",
    ),
    (
        b"\x1f\x9d",
        "this is compressed with compress (.Z); unpack it, or compress it with gzip",
    ),
    (b"\xff\xfe", "this is UTF-16; save it as UTF-8"),
    (b"\xfe\xff", "this is UTF-16; save it as UTF-8"),
    (b"SQLite format 3\x00", "this is an SQLite database, not a text file"),
    (b"%PDF-", "this is a PDF, not a text file"),
)


class FormatError(ValueError):
    """A file that cannot be read as what it is said to be, with the place and the line.

    `line` counts from 1 and is None where the fault is the file's as a whole.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str = "",
        line: int | None = None,
        text: str | None = None,
    ) -> None:
        super().__init__(message, file, line, text)
        self.message = message
        self.file = file
        self.line = line
        self.text = text

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}, line {self.line}"
        sentence = f"{place}: {self.message}" if place else self.message
        return sentence if not self.text else f"{sentence}: {excerpt(self.text)}"


def excerpt(text: str, length: int = 120) -> str:
    """The beginning of `text` on one line, for a sentence on a screen; control characters escaped."""
    short = text if len(text) <= length else text[:length] + "…"
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in short)


def check_id(value: object, what: str) -> str:
    """`value` as an id, or ValueError with a sentence: never empty, no white space, no controls."""
    if not isinstance(value, str):
        raise ValueError(f"{what} must be text, not {_json_name(value)}")
    if not value:
        raise ValueError(f"{what} is empty")
    if value.split() != [value]:
        raise ValueError(f"{what} {excerpt(repr(value))} holds white space")
    if _CONTROL_IN_ID.search(value):
        raise ValueError(f"{what} {excerpt(repr(value))} holds a control character")
    return value


def check_text(value: str, what: str) -> str:
    """`value`, or ValueError with a sentence where it holds control characters or half a pair."""
    if match := _CONTROL.search(value):
        raise ValueError(f"{what} holds the control character U+{ord(match[0]):04X}")
    if match := _SURROGATE.search(value):
        raise ValueError(
            f"{what} holds half of a surrogate pair, U+{ord(match[0]):04X}"
        )
    return value


def _json_name(value: object) -> str:
    names = {bool: "true or false", int: "a number", float: "a number", list: "a list"}
    return "null" if value is None else names.get(type(value), "an object")


class Problems:
    """The problems of one input: the first `limit` are kept, all are counted."""

    def __init__(self, *, collect: bool, limit: int = MAX_PROBLEMS) -> None:
        self.collect = collect
        self.limit = limit
        self.shown: list[FormatError] = []
        self.count = 0

    def report(self, error: FormatError) -> None:
        """Raise `error`; or keep it and go on, where problems are collected."""
        self.count += 1
        if len(self.shown) < self.limit:
            self.shown.append(error)
        if not self.collect:
            raise error


@runtime_checkable
class Input(Protocol):
    """What `Source` and `Folder` have in common for whoever loads the records."""

    name: str

    @property
    def line(self) -> int | None:
        """The line the last record began on."""

    @property
    def file(self) -> str:
        """The name of the file the last record came from."""

    @property
    def problems(self) -> list[FormatError]:
        """The first problems met, at most MAX_PROBLEMS."""

    @property
    def problem_count(self) -> int:
        """How many problems were met in all."""

    def refuse(
        self, message: str, *, line: int | None = None, text: str | None = None
    ) -> None:
        """Refuse the record last yielded (or the given line) with a sentence."""

    def refuse_all(self, message: str) -> None:
        """Refuse the file or folder as a whole."""


class Source:
    """One file as text lines, checked: gzip undone, strict UTF-8, bounded lines.

    Takes a binary stream or bytes. With `collect=True` problems do not raise but are kept in
    `problems` (the first 1,000) and counted in `problem_count`; a bad line is then left out and
    reading goes on. A source is read once.
    """

    def __init__(
        self,
        stream: IO[bytes] | bytes,
        name: str = "",
        *,
        collect: bool = False,
        max_line: int = MAX_LINE,
        problems: Problems | None = None,
    ) -> None:
        self._stream: IO[bytes] = (
            io.BytesIO(stream) if isinstance(stream, bytes) else stream
        )
        self.name = name
        self.max_line = max_line
        self.line: int | None = None
        self.bytes_read = 0
        """Bytes taken from the stream so far (before gzip is undone), for progress."""
        self._text: str | None = None
        self._problems = problems or Problems(collect=collect)
        self._broken = False
        self._begun = False

    @property
    def file(self) -> str:
        return self.name

    @property
    def problems(self) -> list[FormatError]:
        return self._problems.shown

    @property
    def problem_count(self) -> int:
        return self._problems.count

    @property
    def collects(self) -> bool:
        return self._problems.collect

    def refuse(
        self, message: str, *, line: int | None = None, text: str | None = None
    ) -> None:
        """Raise FormatError, or collect it. Without `line` it is about the last line or record.

        After the file itself broke off (gzip, line 1 of the trouble) nothing more is reported:
        what follows from it is noise.
        """
        if self._broken:
            return
        self._problems.report(
            FormatError(
                message,
                file=self.name,
                line=self.line if line is None else line,
                text=self._text if text is None and line is None else text,
            )
        )

    def refuse_all(self, message: str) -> None:
        """Refuse the file as a whole: no line, and nothing more is read or reported."""
        if self._broken:
            return
        error = FormatError(message, file=self.name)
        self._broken = True
        self._problems.report(error)

    def _chunks(self) -> Iterator[bytes]:
        """The bytes of the file, gzip undone (several members too), never more than CHUNK at once."""
        if self._begun:
            raise RuntimeError(f"{self.name}: a source is read once")
        self._begun = True
        first = self._read()
        while 0 < len(first) < 16 and (more := self._read()):
            first += more
        for magic, sentence in _FOREIGN_MAGIC:
            if first.startswith(magic):
                self.refuse_all(sentence)
                return
        if not first.startswith(b"\x1f\x8b"):
            while first:
                yield first
                first = self._read()
            return
        inflate = zlib.decompressobj(wbits=31)
        data = first
        while data:
            try:
                out = inflate.decompress(data, CHUNK)
            except zlib.error:
                self.refuse_all("the gzip data is damaged")
                return
            if out:
                yield out
            if inflate.eof:
                # gzip -c a b > c.gz makes several members; tape drives pad with zeros.
                data = inflate.unused_data.lstrip(b"\0")
                while not data and (more := self._read()):
                    data = more.lstrip(b"\0")
                if not data:
                    return
                inflate = zlib.decompressobj(wbits=31)
            else:
                data = inflate.unconsumed_tail
                if not data and not (data := self._read()):
                    break
        self.refuse_all("the gzip file is cut off before its end")

    def _read(self) -> bytes:
        try:
            chunk = self._stream.read(CHUNK)
        except (zipfile.BadZipFile, zlib.error, EOFError):
            # Only an entry of a zip archive raises these.
            self.refuse_all("the archive is damaged at this file")
            return b""
        self.bytes_read += len(chunk)
        return chunk

    def blocks(self) -> Iterator[tuple[int, list[str]]]:
        """(number of the first line, lines without their ends) for many lines at once.

        The quick way for formats of one line a record; such a reader sets `source.line` itself.
        Where lines were refused the blocks are shorter, the numbers stay right.
        """
        number = 1
        rest: list[bytes] = []
        rest_length = 0
        skipping = False
        content = False
        for chunk in self._chunks():
            if (
                number == 1
                and not rest
                and not skipping
                and chunk.startswith(b"\xef\xbb\xbf")
            ):
                chunk = chunk[3:]
            end = chunk.rfind(b"\n")
            if end < 0:
                if not skipping:
                    rest.append(chunk)
                    rest_length += len(chunk)
                    if rest_length > self.max_line:
                        self._refuse_long(number, b"".join(rest)[:200])
                        rest, rest_length, skipping = [], 0, True
                continue
            body, tail = chunk[:end], chunk[end + 1 :]
            if skipping:
                first, _, body = body.partition(b"\n")
                skipping = False
                number += 1
                if not body and end == len(first):
                    rest, rest_length = [tail], len(tail)
                    continue
            else:
                rest.append(body)
                body = b"".join(rest)
            for start, lines in self._decoded(body, number):
                content = content or any(not line.isspace() and line for line in lines)
                yield start, lines
            number += body.count(b"\n") + 1
            rest, rest_length = [tail], len(tail)
        if rest_length and not self._broken:
            for start, lines in self._decoded(b"".join(rest), number):
                content = content or any(not line.isspace() and line for line in lines)
                yield start, lines
        if not content and not self._problems.count:
            self.refuse_all("the file is empty")

    def _decoded(self, body: bytes, number: int) -> Iterator[tuple[int, list[str]]]:
        """Lines of `body`; line by line only where the whole of it does not pass."""
        try:
            text = body.decode("utf-8")
        except UnicodeDecodeError:
            text = None
        if text is not None and len(body) <= self.max_line:
            if "\r" in text:
                text = text.replace("\r\n", "\n").removesuffix("\r")
            if not _CONTROL_IN_LINE.search(text):
                yield number, text.split("\n")
                return
        for offset, raw in enumerate(body.split(b"\n")):
            if (line := self._decoded_line(raw, number + offset)) is not None:
                yield number + offset, [line]

    def _decoded_line(self, raw: bytes, number: int) -> str | None:
        if len(raw) > self.max_line:
            self._refuse_long(number, raw[:200])
            return None
        raw = raw.removesuffix(b"\r")
        try:
            line = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            self.refuse(
                f"not UTF-8: byte {error.start + 1} of the line is 0x{raw[error.start]:02x}",
                line=number,
                text=raw[:200].decode("utf-8", "replace"),
            )
            return None
        if match := _CONTROL_IN_LINE.search(line):
            self.refuse(
                f"control character U+{ord(match[0]):04X} at position {match.start() + 1}",
                line=number,
                text=line[:200],
            )
            return None
        return line

    def _refuse_long(self, number: int, beginning: bytes) -> None:
        limit = (
            f"{self.max_line // (1024 * 1024)} MiB"
            if self.max_line >= 1024 * 1024
            else f"{self.max_line} bytes"
        )
        self.refuse(
            f"the line is longer than {limit}",
            line=number,
            text=beginning.decode("utf-8", "replace"),
        )

    def lines(self) -> Iterator[str]:
        """The lines without their ends; `line` is the number of the one last given."""
        for number, block in self.blocks():
            for line in block:
                self.line = number
                self._text = line
                yield line
                number += 1

    def whole(self, limit: int = MAX_WHOLE) -> str:
        """The text of the file at once, for formats that cannot be read in pieces (a JSON list).

        Checked as `lines()` is. Longer than `limit` bytes is refused.
        """
        parts: list[str] = []
        length = 0
        for _, block in self.blocks():
            part = "\n".join(block)
            length += len(part) + 1
            if length > limit:
                self.refuse_all(f"the file is longer than {limit // (1024 * 1024)} MiB")
                return ""
            parts.append(part)
        return "\n".join(parts)

    def close(self) -> None:
        self._stream.close()

    def __enter__(self) -> Source:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class Folder:
    """Several files under one name. Subclasses say which there are and how to open one."""

    def __init__(
        self, name: str, *, collect: bool = False, max_line: int = MAX_LINE
    ) -> None:
        self.name = name
        self.max_line = max_line
        self._problems = Problems(collect=collect)
        self._current: Source | None = None

    @property
    def file(self) -> str:
        return self.name if self._current is None else self._current.name

    @property
    def line(self) -> int | None:
        return None if self._current is None else self._current.line

    @property
    def problems(self) -> list[FormatError]:
        return self._problems.shown

    @property
    def problem_count(self) -> int:
        return self._problems.count

    def refuse(
        self, message: str, *, line: int | None = None, text: str | None = None
    ) -> None:
        """Refuse the record last yielded; before the first, the folder as a whole."""
        if self._current is None:
            self._problems.report(
                FormatError(message, file=self.name, line=line, text=text)
            )
        else:
            self._current.refuse(message, line=line, text=text)

    def refuse_all(self, message: str) -> None:
        """Refuse the folder as a whole."""
        self._problems.report(FormatError(message, file=self.name))

    def names(self) -> list[str]:
        """Every file in it as `folder/file` with forward slashes, sorted; no folders."""
        raise NotImplementedError

    def source(self, name: str) -> Source:
        """The file `name`; it shares this folder's problems. KeyError where there is none."""
        raise NotImplementedError

    def _opened(self, stream: IO[bytes], name: str) -> Source:
        self._current = Source(
            stream,
            f"{self.name}/{name}",
            max_line=self.max_line,
            problems=self._problems,
        )
        return self._current

    def close(self) -> None:
        """Nothing is held open, unless a subclass says so."""

    def __enter__(self) -> Folder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class DirectoryFolder(Folder):
    """A folder of the file system. Links are not followed out of it: they are not seen at all."""

    def __init__(
        self, path: Path, *, collect: bool = False, max_line: int = MAX_LINE
    ) -> None:
        super().__init__(path.name or str(path), collect=collect, max_line=max_line)
        self.path = path
        self._names: list[str] | None = None

    def names(self) -> list[str]:
        if self._names is None:
            self._names = sorted(
                path.relative_to(self.path).as_posix()
                for path in self.path.rglob("*")
                if path.is_file() and not path.is_symlink()
            )
        return self._names

    def source(self, name: str) -> Source:
        if name not in self.names():
            raise KeyError(name)
        return self._opened((self.path / name).open("rb"), name)


class ZipFolder(Folder):
    """A zip archive as a folder. Nothing is unpacked to disk.

    Refused as a whole (always raised, also when problems are collected): what is no zip, absolute
    names and `..`, links, encrypted entries, the same name twice, more than `max_entries` files,
    more than `max_total` bytes unpacked or a file packed tighter than `max_ratio`.
    """

    def __init__(
        self,
        stream: IO[bytes],
        name: str,
        *,
        collect: bool = False,
        max_line: int = MAX_LINE,
        max_entries: int = 200_000,
        max_total: int = 4 * 1024 * 1024 * 1024,
        max_ratio: int = 200,
    ) -> None:
        super().__init__(name, collect=collect, max_line=max_line)
        try:
            self._archive = zipfile.ZipFile(stream)
        except (zipfile.BadZipFile, OSError, ValueError) as error:
            raise FormatError("this is not a zip archive", file=name) from error
        self._entries = self._checked(max_entries, max_total, max_ratio)

    def _checked(
        self, max_entries: int, max_total: int, max_ratio: int
    ) -> dict[str, zipfile.ZipInfo]:
        infos = [info for info in self._archive.infolist() if not info.is_dir()]
        if len(infos) > max_entries:
            raise FormatError(
                f"more than {max_entries:,} files in the archive", file=self.name
            )
        entries: dict[str, zipfile.ZipInfo] = {}
        total = 0
        for info in infos:
            path = info.filename.replace("\\", "/")
            parts = PurePosixPath(path).parts
            shown = excerpt(repr(info.filename))
            if path.startswith("/") or re.match("[A-Za-z]:/", path) or ".." in parts:
                raise FormatError(
                    f"the entry {shown} leads out of the archive", file=self.name
                )
            if stat.S_ISLNK(info.external_attr >> 16):
                raise FormatError(f"the entry {shown} is a link", file=self.name)
            if info.flag_bits & 1:
                raise FormatError(f"the entry {shown} is encrypted", file=self.name)
            total += info.file_size
            if total > max_total:
                raise FormatError(
                    f"the archive holds more than {max_total:,} bytes unpacked",
                    file=self.name,
                )
            if (
                info.file_size > 1024 * 1024
                and info.file_size > max_ratio * info.compress_size
            ):
                raise FormatError(
                    f"the entry {shown} is packed more than {max_ratio} times over",
                    file=self.name,
                )
            # What the Mac's archiver adds beside each file.
            if parts[0] == "__MACOSX" or parts[-1] == ".DS_Store":
                continue
            plain = "/".join(part for part in parts if part != ".")
            if plain in entries:
                raise FormatError(f"the entry {shown} occurs twice", file=self.name)
            entries[plain] = info
        tops = {name.partition("/")[0] for name in entries}
        if len(tops) == 1 and all("/" in name for name in entries):
            # A zipped folder usually holds the folder itself.
            return {name.partition("/")[2]: info for name, info in entries.items()}
        return entries

    def names(self) -> list[str]:
        return sorted(self._entries)

    def source(self, name: str) -> Source:
        return self._opened(self._archive.open(self._entries[name]), name)

    def close(self) -> None:
        self._archive.close()


def open_source(path: str | Path, *, collect: bool = False) -> Source:
    """The file at `path` as a Source named as given; FormatError where there is none."""
    file = Path(path)
    if file.is_dir():
        raise FormatError("this is a folder; a file is wanted", file=str(path))
    return Source(_opened_file(file), str(path), collect=collect)


def open_folder(path: str | Path, *, collect: bool = False) -> Folder:
    """The folder (or zip archive) at `path`; FormatError where there is none."""
    file = Path(path)
    if file.is_dir():
        return DirectoryFolder(file, collect=collect)
    stream = _opened_file(file)
    if not zipfile.is_zipfile(stream):
        stream.close()
        raise FormatError(
            "this is a file; a folder or a zip archive is wanted", file=str(path)
        )
    return ZipFolder(stream, str(path), collect=collect)


def _opened_file(path: Path) -> IO[bytes]:
    if path.exists() and not path.is_file():
        raise FormatError("this is not an ordinary file", file=str(path))
    try:
        return path.open("rb")
    except FileNotFoundError as error:
        raise FormatError("there is no such file", file=str(path)) from error
    except PermissionError as error:
        raise FormatError(
            "this file may not be read (permission denied)", file=str(path)
        ) from error


In = TypeVar("In", Source, Folder)
Out = TypeVar("Out")


def never_empty(
    what: str,
) -> Callable[[Callable[[In], Iterator[Out]]], Callable[[In], Iterator[Out]]]:
    """Decorates a reader: a file in which it finds nothing, and nothing wrong, is refused."""

    def decorate(read: Callable[[In], Iterator[Out]]) -> Callable[[In], Iterator[Out]]:
        @wraps(read)
        def checked(source: In) -> Iterator[Out]:
            records = read(source)
            for first in records:
                yield first
                yield from records
                return
            if not source.problem_count:
                source.refuse_all(f"no {what} found in it")

        return checked

    return decorate
