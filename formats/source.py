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
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import IO, Protocol

from formats.unpacking import (
    CHUNK,
    GZIP,
    MAX_RATIO,
    MAX_UNPACKED,
    NO_ZIP,
    ZIP_METHODS,
    Budget,
    Unreadable,
    ZipEntry,
    inflated,
    open_zip,
)
from formats.unpacking import (
    HEAD as MAGIC,
)

MAX_LINE = 16 * 1024 * 1024
MAX_WHOLE = 256 * 1024 * 1024
MAX_PROBLEMS = 1_000
MAX_ID = 255
MAX_BLANK = 100_000
"""Blank lines of a file, besides ten for each line that holds something."""

HEAD = 4_096
# Folders that belong inside a format's folder, so that none of them is the folder itself.
PARTS = ("qrels", "tables")
# An archive whose files come to no more is no bomb, however tightly it is packed.
SMALL_ARCHIVE = 64 * 1024 * 1024

# What a text may not hold: control characters other than tab, line feed, form feed and carriage
# return. PostgreSQL refuses NUL, terminals obey escape, and a stray one means a binary file.
_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f]")
_CONTROL_IN_LINE = re.compile("[\x00-\x08\x0b\x0d-\x1f\x7f]")
_CONTROL_BYTES = bytes(code for code in range(128) if _CONTROL_IN_LINE.match(chr(code)))
_SURROGATE = re.compile("[\ud800-\udfff]")
# What parts columns, here and in trec_eval.
_WHITE_SPACE = re.compile("[ \t-\r]")
_CONTROL_IN_ID = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")

_CR_ALONE = (
    "the lines end in CR alone, as on old Macs; save the file with LF or CR LF at the ends of lines"
)

_FOREIGN_MAGIC = (
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


class FormatError(Exception):
    """A file that cannot be read as what it is said to be, with the place and the line.

    `line` counts from 1 and is None where the fault is the file's as a whole.
    """

    def __init__(
        self, message: str, *, file: str = "", line: int | None = None, text: str | None = None
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
    """The beginning of `text` on one line, for a sentence; what cannot be printed is escaped."""
    short = text if len(text) <= length else text[:length] + "…"
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in short)


def check_id(value: object, what: str) -> str:
    """`value` as an id, or ValueError with a sentence.

    An id is text of 1 to MAX_ID characters without blanks, tabs, line ends and control characters.
    White space outside of ASCII (a no-break space) is part of an id: nothing splits columns at it.
    """
    if not isinstance(value, str):
        raise ValueError(f"{what} must be text, not {json_name(value)}")
    if not value:
        raise ValueError(f"{what} is empty")
    if _WHITE_SPACE.search(value):
        raise ValueError(f"{what} {excerpt(repr(value), 40)} holds white space")
    if len(value) > MAX_ID:
        raise ValueError(f"{what} {excerpt(repr(value), 40)} is longer than {MAX_ID} characters")
    if _CONTROL_IN_ID.search(value):
        raise ValueError(f"{what} {excerpt(repr(value), 40)} holds a control character")
    return value


def check_text(value: str, what: str) -> str:
    """`value`, or ValueError with a sentence where it holds control characters or half a pair."""
    if match := _CONTROL.search(value):
        raise ValueError(f"{what} holds the control character U+{ord(match[0]):04X}")
    if match := _SURROGATE.search(value):
        raise ValueError(f"{what} holds half of a surrogate pair, U+{ord(match[0]):04X}")
    return value


def json_name(value: object) -> str:
    """What JSON calls a value of this type, for a sentence."""
    names = {
        type(None): "null",
        bool: "true or false",
        int: "a number",
        float: "a number",
        str: "text",
        list: "a list",
    }
    return names.get(type(value), "an object")


def printable(name: str) -> str:
    """The name of a file as it can be shown and kept: controls and stray bytes as escapes."""
    return _CONTROL_IN_ID.sub(lambda found: repr(found[0])[1:-1], name)


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


class LeftOut:
    """Fields that records of a file have and its format does not keep: how many have each.

    Of an endless number of names the first MOST are told apart.
    """

    MOST = 100

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str], int] = {}

    def add(self, part: str, field: str) -> None:
        """Count one record whose field is not kept; `part` is the file of a folder, or empty."""
        key = (part, excerpt(field, 60))
        if key not in self._counts and len(self._counts) >= self.MOST:
            key = ("", "(others)")
        self._counts[key] = self._counts.get(key, 0) + 1

    def sentences(self) -> list[str]:
        """What is not kept: one sentence for the fields that as many records have."""
        alike: dict[tuple[str, int], list[str]] = {}
        for (part, field), count in self._counts.items():
            alike.setdefault((part, count), []).append(f"“{field}”")
        return [_not_kept(part, count, fields) for (part, count), fields in alike.items()]


def _not_kept(part: str, count: int, fields: list[str]) -> str:
    records = f"{count:,} record{'' if count == 1 else 's'}" + (f" of {part}" if part else "")
    if len(fields) == 1:
        return f"the field {fields[0]} of {records} is not kept"
    return f"the fields {', '.join(fields[:-1])} and {fields[-1]} of {records} are not kept"


class Input(ABC):
    """What whoever loads the records may ask of a `Source` and a `Folder` alike."""

    name: str
    left_out: LeftOut
    _problems: Problems

    @property
    def problems(self) -> list[FormatError]:
        """The first problems met, at most MAX_PROBLEMS of them."""
        return self._problems.shown

    @property
    def problem_count(self) -> int:
        """How many problems were met in all."""
        return self._problems.count

    @property
    @abstractmethod
    def place(self) -> tuple[str, int | None]:
        """File and line on which the last record began."""

    @abstractmethod
    def refuse(self, message: str, *, line: int | None = None, text: str | None = None) -> None:
        """Raise FormatError, or collect it, about the last line or record (or the given line)."""

    @abstractmethod
    def refuse_all(self, message: str) -> None:
        """Refuse the file or folder as a whole: no line, and nothing more is read."""

    @abstractmethod
    def close(self) -> None:
        """Let go of what is open."""


class Readable(Protocol):
    """What a Source needs of a stream: open files and uploads have it."""

    def read(self, size: int, /) -> bytes:
        """At most `size` bytes; none at the end."""

    def close(self) -> object:
        """Let go of it."""


class Source(Input):
    """One file as text lines, checked: gzip undone, strict UTF-8, bounded lines.

    Takes a binary stream or bytes. With `collect=True` problems do not raise but are kept in
    `problems` (the first 1,000) and counted in `problem_count`; a bad line is then left out and
    reading goes on. A source is read once.

    Attributes:
        line: the number of the line the last record began on.
        text: that line as it stands.
        bytes_read: bytes taken from the stream so far (before gzip is undone), for progress.
        refused: how many problems this file had.
        broken: the file as a whole was refused; a reader stops.
        left_out: fields that records have and the format does not keep, for whoever loads them.
        suspicion: asked once, where nothing fits from the start, what the file looks like instead.
    """

    def __init__(
        self,
        stream: Readable | bytes,
        name: str = "",
        *,
        collect: bool = False,
        max_line: int = MAX_LINE,
        problems: Problems | None = None,
        budget: Budget | None = None,
        left_out: LeftOut | None = None,
        part: str = "",
    ) -> None:
        self._stream: Readable = io.BytesIO(stream) if isinstance(stream, bytes) else stream
        self._problems = problems or Problems(collect=collect)
        self._budget = budget or Budget()
        self.left_out = left_out or LeftOut()
        self._part = part
        self._begun = False
        self._head = b""
        self.name = printable(name)
        self.max_line = max_line
        self.line: int | None = None
        self.text: str | None = None
        self.bytes_read = 0
        self.refused = 0
        self.broken = False
        self.suspicion: Callable[[str], str | None] | None = None

    @property
    def place(self) -> tuple[str, int | None]:
        return self.name, self.line

    def refuse(self, message: str, *, line: int | None = None, text: str | None = None) -> None:
        """Raise FormatError, or collect it. Without `line` it is about the last line or record.

        Once the file as a whole was refused nothing more is reported: what follows is noise.
        """
        if self.broken:
            return
        message = self._with_likely_format(message)
        self.refused += 1
        if line is None:
            line = self.line
            text = self.text if text is None else text
        # Many problems are kept, and a line may be long.
        text = text and text[:1_000]
        self._problems.report(FormatError(message, file=self.name, line=line, text=text))

    def refuse_all(self, message: str) -> None:
        if self.broken:
            return
        message = self._with_likely_format(message)
        self.broken = True
        self.refused += 1
        self._problems.report(FormatError(message, file=self.name))

    def leave_out(self, field: str) -> None:
        """Count one record of which the format does not keep this field."""
        self.left_out.add(self._part, field)

    def _with_likely_format(self, message: str) -> str:
        """The message, with what the file is instead; then the rest of it is not read."""
        suspicion, self.suspicion = self.suspicion, None
        if suspicion is None or not (hint := suspicion(self._beginning())):
            return message
        self.broken = True
        return f"{message}; {hint}"

    def _beginning(self) -> str:
        """The first HEAD characters that were read, as far as they are text."""
        text = self._head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
        return text.replace("\r\n", "\n")[:HEAD]

    def _chunks(self) -> Iterator[bytes]:
        """The bytes of the file, gzip undone (several members too), about CHUNK at once."""
        if self._begun:
            raise RuntimeError(f"{self.name}: a source is read once")
        self._begun = True
        first = self._read()
        while 0 < len(first) < MAGIC and (more := self._read()):
            first += more
        for magic, sentence in _FOREIGN_MAGIC:
            if first.startswith(magic):
                self.refuse_all(sentence)
                return
        if first.startswith(GZIP):
            try:
                yield from inflated(first, self._read, self._budget)
            except Unreadable as error:
                self.refuse_all(str(error))
            return
        while first:
            yield first
            first = self._read()

    def _read(self) -> bytes:
        try:
            chunk = self._stream.read(CHUNK)
        except Unreadable as error:
            # Only an entry of a zip archive raises it.
            self.refuse_all(str(error))
            return b""
        self.bytes_read += len(chunk)
        return chunk

    def blocks(self) -> Iterator[tuple[int, list[str]]]:
        """(number of the first line, lines without their ends) for many lines at once.

        The quick way for formats of one line a record; such a reader sets `line` and `text` itself.
        Where lines were refused a block is shorter; the numbers stay right.
        """
        number = 1
        rest: list[bytes] = []
        rest_length = 0
        skipping = False
        blank = filled = 0
        for chunk in self._chunks():
            if len(self._head) < 4 * HEAD:
                self._head += chunk[: 4 * HEAD]
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
                skipped, _, body = body.partition(b"\n")
                skipping = False
                number += 1
                if end == len(skipped):
                    rest, rest_length = [tail], len(tail)
                    continue
            else:
                rest.append(body)
                body = b"".join(rest)
            for start, lines in self._decoded(body, number):
                empty = lines.count("") + sum(map(str.isspace, lines))
                blank += empty
                filled += len(lines) - empty
                if blank > MAX_BLANK + 10 * filled:
                    self.refuse_all(
                        f"the file has more than {MAX_BLANK:,} blank lines, and little else"
                    )
                    return
                yield start, lines
                if self.broken:
                    return
            number += body.count(b"\n") + 1
            rest, rest_length = [tail], len(tail)
        last = b"".join(rest)
        if number == 1 and b"\r" in last.rstrip(b"\r"):
            self.refuse_all(_CR_ALONE)
        if rest_length and not self.broken:
            for start, lines in self._decoded(last, number):
                filled += any(line and not line.isspace() for line in lines)
                yield start, lines
        if not filled and not self.refused:
            self.refuse_all("the file is empty")

    def _decoded(self, body: bytes, number: int) -> Iterator[tuple[int, list[str]]]:
        """Lines of `body`; line by line only where the whole of it does not pass."""
        if number == 1:
            body = body.removeprefix(b"\xef\xbb\xbf")
        if len(body) <= self.max_line and (text := _clean(body)) is not None:
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
            hint = "; lines end in LF or CR LF, not in CR alone" if match[0] == "\r" else ""
            self.refuse(
                f"control character U+{ord(match[0]):04X} at position {match.start() + 1}{hint}",
                line=number,
                text=line[:200],
            )
            return None
        return line

    def _refuse_long(self, number: int, beginning: bytes) -> None:
        if number == 1 and b"\r" in beginning:
            self.refuse_all(_CR_ALONE)
            return
        mebibytes, bytes_left = divmod(self.max_line, 1024 * 1024)
        limit = f"{self.max_line} bytes" if bytes_left else f"{mebibytes} MiB"
        self.refuse(
            f"the line is longer than {limit}",
            line=number,
            text=beginning.decode("utf-8", "replace"),
        )

    def lines(self) -> Iterator[str]:
        """The lines without their ends; `line` is the number of the one last given."""
        for number, block in self.blocks():
            for offset, line in enumerate(block):
                self.line = number + offset
                self.text = line
                yield line
                if self.broken:
                    return

    def whole(self, limit: int = MAX_WHOLE) -> str | None:
        """The text of the file at once, for formats that cannot be read in pieces (a JSON list).

        Checked as `lines()` is; None where something in it was refused. More than `limit`
        characters are refused.
        """
        parts: list[str] = []
        length = 0
        for _, block in self.blocks():
            part = "\n".join(block)
            length += len(part) + 1
            if length > limit:
                self.refuse_all(f"the file is longer than {limit:,} characters")
                return None
            parts.append(part)
        return None if self.refused else "\n".join(parts)

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


def _clean(body: bytes) -> str | None:
    """The text of some lines with their ends as line feeds, or None where anything is wrong."""
    if b"\r" in body:
        body = body.replace(b"\r\n", b"\n").removesuffix(b"\r")
    # Many times quicker than a search in the text. In UTF-8 a control byte is part of nothing else.
    if len(body.translate(None, _CONTROL_BYTES)) != len(body):
        return None
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return None


class Folder(Input):
    """Several files under one name. Subclasses say which there are and how to open one."""

    def __init__(self, name: str, *, collect: bool = False, max_line: int = MAX_LINE) -> None:
        self.name = printable(name)
        self.max_line = max_line
        self._problems = Problems(collect=collect)
        self._budget = Budget()
        self.left_out = LeftOut()
        self._current: Source | None = None

    @property
    def place(self) -> tuple[str, int | None]:
        return (self.name, None) if self._current is None else self._current.place

    @property
    def refused(self) -> int:
        """How many problems the folder had."""
        return self._problems.count

    def refuse(self, message: str, *, line: int | None = None, text: str | None = None) -> None:
        if self._current is None:
            self._problems.report(FormatError(message, file=self.name, line=line, text=text))
        else:
            self._current.refuse(message, line=line, text=text)

    def refuse_all(self, message: str) -> None:
        self._problems.report(FormatError(message, file=self.name))

    @abstractmethod
    def names(self) -> list[str]:
        """Every file in it as `folder/file` with forward slashes, sorted; no folders."""

    def source(self, name: str) -> Source:
        """The file `name`, sharing this folder's problems; the one before it is closed.

        KeyError where there is no such file.
        """
        self.close_current()
        file = f"{self.name}/{printable(name)}"
        try:
            stream = self._stream(name)
        except Unreadable as error:
            raise FormatError(str(error), file=file) from error
        self._current = Source(
            stream,
            file,
            max_line=self.max_line,
            problems=self._problems,
            budget=self._budget,
            left_out=self.left_out,
            part=printable(name),
        )
        return self._current

    @abstractmethod
    def _stream(self, name: str) -> Readable:
        """The bytes of a file; KeyError where there is no such file."""

    def close_current(self) -> None:
        """Close the file that is being read, if any; `place` still names it."""
        if self._current is not None:
            self._current.close()

    def close(self) -> None:
        self.close_current()

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
    """A folder of the file system. Links in it are not seen: they could lead out of it."""

    def __init__(self, path: Path, *, collect: bool = False, max_line: int = MAX_LINE) -> None:
        super().__init__(str(path), collect=collect, max_line=max_line)
        self.path = path
        self._names: dict[str, Path] | None = None

    def _files(self) -> dict[str, Path]:
        if self._names is None:
            found = (p for p in self.path.rglob("*") if p.is_file() and not p.is_symlink())
            self._names = {p.relative_to(self.path).as_posix(): p for p in found}
        return self._names

    def names(self) -> list[str]:
        return sorted(self._files())

    def _stream(self, name: str) -> IO[bytes]:
        return _opened(self._files()[name])


class ZipFolder(Folder):
    """A zip archive (a stream that can seek) as a folder. Nothing is unpacked to disk.

    Refused as a whole (always raised, also when problems are collected): what is no zip, absolute
    names and `..`, links, encrypted entries, the same name twice, more than `max_entries` files,
    more than `max_total` bytes unpacked, a file, or the archive, packed tighter than `max_ratio`.
    """

    def __init__(
        self,
        stream: IO[bytes],
        name: str,
        *,
        collect: bool = False,
        max_line: int = MAX_LINE,
        max_entries: int = 200_000,
        max_total: int = MAX_UNPACKED,
        max_ratio: int = MAX_RATIO,
    ) -> None:
        super().__init__(name, collect=collect, max_line=max_line)
        self._bytes = stream
        try:
            self._archive = open_zip(stream)
        except Unreadable as error:
            raise FormatError(str(error), file=self.name) from error
        packed = stream.seek(0, io.SEEK_END)
        most = min(max_total, max(SMALL_ARCHIVE, max_ratio * packed))
        self._budget = Budget(most)
        self._entries = self._checked(max_entries, most, max_ratio)

    def _checked(
        self, max_entries: int, max_total: int, max_ratio: int
    ) -> dict[str, zipfile.ZipInfo]:
        infos = self._archive.infolist()
        if not all(info.filename for info in infos):
            raise FormatError("the archive holds an entry without a name", file=self.name)
        infos = [info for info in infos if not info.is_dir()]
        if len(infos) > max_entries:
            raise FormatError(f"more than {max_entries:,} files in the archive", file=self.name)
        if sum(info.file_size for info in infos) > max_total:
            raise FormatError(
                f"the archive unpacks to more than {max_total:,} bytes", file=self.name
            )
        entries: dict[str, zipfile.ZipInfo] = {}
        for info in infos:
            path = self._checked_path(info, max_ratio)
            # What the Mac's archiver adds beside each file.
            if path.startswith("__MACOSX/") or path.rpartition("/")[2] == ".DS_Store":
                continue
            if path in entries:
                raise FormatError(f"the entry {excerpt(repr(path))} occurs twice", file=self.name)
            entries[path] = info
        tops = {path.partition("/")[0] for path in entries}
        if len(tops) == 1 and tops.isdisjoint(PARTS) and all("/" in path for path in entries):
            # A zipped folder usually holds the folder itself.
            return {path.partition("/")[2]: info for path, info in entries.items()}
        return entries

    def _checked_path(self, info: zipfile.ZipInfo, max_ratio: int) -> str:
        path = PurePosixPath(info.filename.replace("\\", "/"))
        shown = f"the entry {excerpt(repr(info.filename))}"
        if path.is_absolute() or re.match("[A-Za-z]:/", str(path)) or ".." in path.parts:
            raise FormatError(f"{shown} leads out of the archive", file=self.name)
        if stat.S_ISLNK(info.external_attr >> 16):
            raise FormatError(f"{shown} is a link", file=self.name)
        if info.flag_bits & 1:
            raise FormatError(f"{shown} is encrypted", file=self.name)
        if info.compress_type not in ZIP_METHODS:
            raise FormatError(
                f"{shown} is packed by a method that is not known here "
                f"(number {info.compress_type}); pack it by deflate",
                file=self.name,
            )
        if not path.parts:
            raise FormatError(f"{shown} has no name", file=self.name)
        # Small files of one repeated letter are no bombs.
        if info.file_size > 1024 * 1024 and info.file_size > max_ratio * info.compress_size:
            raise FormatError(f"{shown} is packed more than {max_ratio} to 1", file=self.name)
        return str(path)

    def names(self) -> list[str]:
        return sorted(self._entries)

    def _stream(self, name: str) -> ZipEntry:
        return ZipEntry(self._archive, self._entries[name])

    def close(self) -> None:
        super().close()
        self._archive.close()
        self._bytes.close()


def open_source(path: str | Path, *, collect: bool = False) -> Source:
    """The file at `path` as a Source named as given; FormatError where there is none."""
    file = _named(path)
    if _is_dir(file):
        raise FormatError("this is a folder; a file is wanted", file=printable(str(path)))
    return Source(_opened(file), str(path), collect=collect)


def open_folder(path: str | Path, *, collect: bool = False) -> Folder:
    """The folder (or zip archive) at `path`; FormatError where there is none."""
    file = _named(path)
    if _is_dir(file):
        return DirectoryFolder(file, collect=collect)
    stream = _opened(file)
    try:
        return ZipFolder(stream, str(path), collect=collect)
    except FormatError as error:
        stream.close()
        if error.message == NO_ZIP:
            message = "this is a file; a folder or a zip archive is wanted"
            raise FormatError(message, file=error.file) from error
        raise


def _named(path: str | Path) -> Path:
    """The path, where its name can be kept."""
    file = Path(path)
    if _SURROGATE.search(str(file)):
        raise FormatError("the file's name is not UTF-8; rename it", file=printable(str(file)))
    return file


def _is_dir(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        # What is wrong is said when it is opened.
        return False


def _opened(path: Path) -> IO[bytes]:
    name = printable(str(path))
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise FormatError("this is not an ordinary file", file=name)
        return path.open("rb")
    except FileNotFoundError as error:
        raise FormatError("there is no such file", file=name) from error
    except PermissionError as error:
        raise FormatError("this file may not be read (permission denied)", file=name) from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "its name holds a null character"
        raise FormatError(f"this file cannot be read: {reason}", file=name) from error
