"""`Source`: the input of readers, a file as checked lines.

All handling of hostile or damaged files is in one place: gzip, wrong encoding, endless lines,
control characters, archives with false sizes. Readers see clean text and call `source.refuse(...)`
for a wrong line.
"""

from __future__ import annotations

import io
import stat
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, NamedTuple, Protocol

from formats.file_bytes import (
    CHUNK,
    CONTROL_IN_LINE,
    CR_ALONE,
    GZIP,
    NULL_BYTES,
    ZIP,
    ZIP_ARCHIVE,
    Budget,
    Unreadable,
    decode_clean,
    describe_other_kind,
    unpack_gzip,
)
from formats.file_bytes import (
    HEAD as MAGIC,
)
from formats.problems import FormatError, LeftOutFields, Problems
from formats.texts import SURROGATE, printable

# Limits on the size of input that every format shares.
MAX_LINE = 16 * 1024 * 1024
MAX_WHOLE = 256 * 1024 * 1024
# Allowed blank lines of a file, besides ten for each line that is not blank.
MAX_BLANK = 100_000

HEAD = 4_096


class Input(ABC):
    """The common interface of `Source` and `Folder` for code that loads records."""

    name: str
    left_out: LeftOutFields
    _problems: Problems

    @property
    def problems(self) -> list[FormatError]:
        """Return the first problems found, at most MAX_PROBLEMS of them."""
        return self._problems.first

    @property
    def problem_count(self) -> int:
        """Return how many problems were found in total."""
        return self._problems.count

    @property
    @abstractmethod
    def place(self) -> tuple[str, int | None]:
        """Return the file and the line on which the last record began."""

    @abstractmethod
    def refuse(self, message: str, *, line: int | None = None, text: str | None = None) -> None:
        """Raise or collect a FormatError about the last line or record, or about `line`."""

    @abstractmethod
    def refuse_all(self, message: str) -> None:
        """Refuse the file or folder as a whole, without a line; stop reading it."""

    @abstractmethod
    def close(self) -> None:
        """Close the open files."""


class Readable(Protocol):
    """The methods of a stream that a Source needs; open files and uploads have them."""

    def read(self, size: int, /) -> bytes:
        """Return at most `size` bytes; none at the end."""

    def close(self) -> object:
        """Close the stream."""


class FormatHint(NamedTuple):
    """A hint at the likely format of a file.

    `format` is the name of that format, or None if the file is only a part of a folder.
    """

    sentence: str
    format: str | None


class Source(Input):
    """One file as checked text lines: gzip unpacked, strict UTF-8, bounded length.

    Takes a binary stream or bytes. With `collect=True`, problems are not raised but kept in
    `problems` (the first 1,000) and counted in `problem_count`; a bad line is then skipped and
    reading continues. A source can be read once.

    Attributes:
        line: the number of the line on which the last record began.
        text: that line, unchanged.
        bytes_read: bytes read from the stream so far (before gzip is unpacked), for progress.
        refused: how many problems this file had.
        broken: the file as a whole was refused; a reader stops.
        left_out: fields that records have and the format does not keep, to report after loading.
        find_hint: called once, if the first line does not fit, for a hint at the likely format.
        likely_format: the format that this hint names for the file itself, or None.
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
        left_out: LeftOutFields | None = None,
        part: str = "",
    ) -> None:
        self._stream: Readable = io.BytesIO(stream) if isinstance(stream, bytes) else stream
        self._problems = problems or Problems(collect=collect)
        self._budget = budget or Budget()
        self.left_out = left_out or LeftOutFields()
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
        self.find_hint: Callable[[str], FormatHint | None] | None = None
        self.likely_format: str | None = None

    @property
    def place(self) -> tuple[str, int | None]:
        return self.name, self.line

    def refuse(self, message: str, *, line: int | None = None, text: str | None = None) -> None:
        """Raise or collect a FormatError. Without `line`, it is about the last line or record.

        After the file as a whole was refused, nothing more is reported: it would be noise.
        """
        if self.broken:
            return
        message = self._with_likely_format(message)
        self.refused += 1
        if line is None:
            line = self.line
            text = self.text if text is None else text
        # Up to MAX_PROBLEMS problems are kept, and a line may be long.
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
        """Count one record with a field that the format does not keep."""
        self.left_out.add(self._part, field, self.line)

    def _with_likely_format(self, message: str) -> str:
        """Return the message, with a hint at the likely format; a hint also stops reading."""
        find_hint, self.find_hint = self.find_hint, None
        if find_hint is None or not (hint := find_hint(self._beginning())):
            return message
        self.broken = True
        self.likely_format = hint.format
        return f"{message}; {hint.sentence}"

    def read_beginning(self) -> str:
        """Read the first lines only; return what `guess_format` needs. This ends the reading."""
        next(self.blocks(), None)
        return self._beginning()

    def _beginning(self) -> str:
        """Return the first HEAD characters that were read; U+FFFD stands for invalid bytes."""
        text = self._head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
        return text.replace("\r\n", "\n")[:HEAD]

    def _chunks(self) -> Iterator[bytes]:
        """Yield the bytes of the file in pieces of about CHUNK; gzip (all members) is unpacked."""
        if self._begun:
            raise RuntimeError(f"{self.name}: a source is read once")
        self._begun = True
        first = self._read()
        while 0 < len(first) < MAGIC and (more := self._read()):
            first += more
        other_kind = describe_other_kind(first)
        if not other_kind and first.startswith(ZIP):
            other_kind = ZIP_ARCHIVE
        if other_kind:
            self.refuse_all(other_kind)
            return
        if first.startswith(GZIP):
            try:
                yield from unpack_gzip(first, self._read, self._budget)
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
            # Only entries of zip archives raise this.
            self.refuse_all(str(error))
            return b""
        self.bytes_read += len(chunk)
        return chunk

    def blocks(self) -> Iterator[tuple[int, list[str]]]:
        """Yield (number of the first line, lines without their ends) for many lines at once.

        Faster than `lines` for formats with one record per line; such a reader must set `line` and
        `text` itself. Refused lines make a block shorter, but the numbers stay correct.
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
            for start, lines in self._decode_lines(body, number):
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
            self.refuse_all(NULL_BYTES if b"\0" in last else CR_ALONE)
        if rest_length and not self.broken:
            for start, lines in self._decode_lines(last, number):
                filled += any(line and not line.isspace() for line in lines)
                yield start, lines
        if not filled and not self.refused:
            self.refuse_all("the file is empty")

    def _decode_lines(self, body: bytes, number: int) -> Iterator[tuple[int, list[str]]]:
        """Yield the lines of `body`; decode line by line only if the whole does not pass."""
        if number == 1:
            body = body.removeprefix(b"\xef\xbb\xbf")
        if len(body) <= self.max_line and (text := decode_clean(body)) is not None:
            yield number, text.split("\n")
            return
        for offset, raw in enumerate(body.split(b"\n")):
            if (line := self._decode_line(raw, number + offset)) is not None:
                yield number + offset, [line]

    def _decode_line(self, raw: bytes, number: int) -> str | None:
        if len(raw) > self.max_line:
            self._refuse_long(number, raw[:200])
            return None
        raw = raw.removesuffix(b"\r")
        if number == 1 and b"\0" in raw:
            self.refuse_all(NULL_BYTES)
            return None
        try:
            line = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            self.refuse(
                f"not UTF-8: byte {error.start + 1} of the line is 0x{raw[error.start]:02x}",
                line=number,
                text=raw[:200].decode("utf-8", "replace"),
            )
            return None
        if match := CONTROL_IN_LINE.search(line):
            hint = "; lines end in LF or CR LF, not in CR only" if match[0] == "\r" else ""
            self.refuse(
                f"control character U+{ord(match[0]):04X} at position {match.start() + 1}{hint}",
                line=number,
                text=line[:200],
            )
            return None
        return line

    def _refuse_long(self, number: int, beginning: bytes) -> None:
        if number == 1 and b"\r" in beginning:
            self.refuse_all(CR_ALONE)
            return
        mebibytes, bytes_left = divmod(self.max_line, 1024 * 1024)
        limit = f"{self.max_line} bytes" if bytes_left else f"{mebibytes} MiB"
        self.refuse(
            f"the line is longer than {limit}",
            line=number,
            text=beginning.decode("utf-8", "replace"),
        )

    def lines(self) -> Iterator[str]:
        """Yield the lines without their ends; `line` is the number of the last one yielded."""
        for number, block in self.blocks():
            for offset, line in enumerate(block):
                self.line = number + offset
                self.text = line
                yield line
                if self.broken:
                    return

    def read_whole(self, limit: int = MAX_WHOLE) -> str | None:
        """Return the whole text, for formats that cannot be read in pieces (a JSON list).

        It is checked like `lines()`; None if anything in it was refused. A file of more than
        `limit` characters is refused.
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


def open_source(path: str | Path, *, collect: bool = False) -> Source:
    """Open the file at `path` as a Source named `path`; raise FormatError if there is none."""
    file = checked_path(path)
    if is_dir(file):
        raise FormatError("this is a folder; a file is needed", file=printable(str(path)))
    return Source(open_file(file), str(path), collect=collect)


def checked_path(path: str | Path) -> Path:
    """Return `path` as a Path; raise FormatError if its name is not UTF-8."""
    file = Path(path)
    if SURROGATE.search(str(file)):
        raise FormatError("the file's name is not UTF-8; rename it", file=printable(str(file)))
    return file


def is_dir(path: Path) -> bool:
    """Return whether there is a folder at `path`."""
    try:
        return path.is_dir()
    except OSError:
        # Opening it reports the error.
        return False


def open_file(path: Path) -> IO[bytes]:
    """Open a file to read its bytes, or raise FormatError."""
    name = printable(str(path))
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise FormatError("this is not an ordinary file", file=name)
        return path.open("rb")
    except FileNotFoundError as error:
        raise FormatError("there is no such file", file=name) from error
    except PermissionError as error:
        raise FormatError("this file cannot be read (permission denied)", file=name) from error
    except (OSError, ValueError) as error:
        reason = (
            error.strerror if isinstance(error, OSError) else "its name contains a null character"
        )
        raise FormatError(f"this file cannot be read: {reason}", file=name) from error
