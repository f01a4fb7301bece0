"""Folders of files, on disk and inside zip archives."""

from __future__ import annotations

import io
import re
import stat
import zipfile
from abc import abstractmethod
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import IO

from formats.file_bytes import (
    MAX_RATIO,
    MAX_UNPACKED,
    NO_ZIP,
    ZIP_METHODS,
    Budget,
    Unreadable,
    ZipEntry,
    open_zip,
)
from formats.problems import FormatError, LeftOutFields, Problems
from formats.source import MAX_LINE, Input, Readable, Source, checked_path, is_dir, open_file
from formats.texts import excerpt, printable

# Subfolders of a format's folder. If one of them is an archive's only top-level folder, the archive
# itself is the format's folder.
SUBFOLDERS = ("qrels", "tables")
# An archive that unpacks to no more than this is not a bomb, however tightly it is packed.
SMALL_ARCHIVE = 64 * 1024 * 1024


class Folder(Input):
    """Several files under one name. Subclasses list the files and open them."""

    def __init__(self, name: str, *, collect: bool = False, max_line: int = MAX_LINE) -> None:
        self.name = printable(name)
        self.max_line = max_line
        self._problems = Problems(collect=collect)
        self._budget = Budget()
        self.left_out = LeftOutFields()
        self._current: Source | None = None

    @property
    def place(self) -> tuple[str, int | None]:
        return (self.name, None) if self._current is None else self._current.place

    @property
    def refused(self) -> int:
        """Return how many problems the folder had."""
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
        """Return every file in it as `folder/file` with forward slashes, sorted; no folders."""

    def source(self, name: str) -> Source:
        """Open the file `name`, which shares this folder's problems; close the previous file.

        Raise KeyError if there is no such file.
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
        """Open a file as bytes; raise KeyError if there is no such file."""

    def close_current(self) -> None:
        """Close the file that is being read, if any; `place` still refers to it."""
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
    """A folder of the file system. Symbolic links are ignored: they could lead outside it."""

    def __init__(self, path: Path, *, collect: bool = False, max_line: int = MAX_LINE) -> None:
        super().__init__(str(path), collect=collect, max_line=max_line)
        self.path = path
        self._names: dict[str, Path] | None = None

    def _files(self) -> dict[str, Path]:
        if self._names is None:
            files = (p for p in self.path.rglob("*") if p.is_file() and not p.is_symlink())
            self._names = {p.relative_to(self.path).as_posix(): p for p in files}
        return self._names

    def names(self) -> list[str]:
        return sorted(self._files())

    def _stream(self, name: str) -> IO[bytes]:
        return open_file(self._files()[name])


class ZipFolder(Folder):
    """A zip archive (a seekable stream) as a folder. Nothing is unpacked to disk.

    Refused as a whole (always raised, also when problems are collected): files that are not zip
    archives, absolute names and `..`, links, encrypted entries, the same name twice, more than
    `max_entries` files, more than `max_total` bytes unpacked, and a file or an archive packed
    tighter than `max_ratio`.
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
        limit = min(max_total, max(SMALL_ARCHIVE, max_ratio * packed))
        self._budget = Budget(limit)
        self._entries = self._check_entries(max_entries, limit, max_ratio)

    def _check_entries(
        self, max_entries: int, max_total: int, max_ratio: int
    ) -> dict[str, zipfile.ZipInfo]:
        files = self._archive.infolist()
        if not all(info.filename for info in files):
            raise FormatError("the archive holds an entry without a name", file=self.name)
        files = [info for info in files if not info.is_dir()]
        if len(files) > max_entries:
            raise FormatError(f"more than {max_entries:,} files in the archive", file=self.name)
        if sum(info.file_size for info in files) > max_total:
            raise FormatError(
                f"the archive unpacks to more than {max_total:,} bytes", file=self.name
            )
        entries: dict[str, zipfile.ZipInfo] = {}
        for info in files:
            path = self._check_path(info, max_ratio)
            # The macOS archiver adds these beside each file.
            if path.startswith("__MACOSX/") or path.rpartition("/")[2] == ".DS_Store":
                continue
            if path in entries:
                raise FormatError(f"the entry {excerpt(repr(path))} occurs twice", file=self.name)
            entries[path] = info
        top_folders = {path.partition("/")[0] for path in entries}
        if (
            len(top_folders) == 1
            and top_folders.isdisjoint(SUBFOLDERS)
            and all("/" in path for path in entries)
        ):
            # A zipped folder usually has the folder itself as its only top-level entry.
            return {path.partition("/")[2]: info for path, info in entries.items()}
        return entries

    def _check_path(self, info: zipfile.ZipInfo, max_ratio: int) -> str:
        path = PurePosixPath(info.filename.replace("\\", "/"))
        described = f"the entry {excerpt(repr(info.filename))}"
        if path.is_absolute() or re.match("[A-Za-z]:/", str(path)) or ".." in path.parts:
            raise FormatError(f"{described} points outside the archive", file=self.name)
        if stat.S_ISLNK(info.external_attr >> 16):
            raise FormatError(f"{described} is a link", file=self.name)
        if info.flag_bits & 1:
            raise FormatError(f"{described} is encrypted", file=self.name)
        if info.compress_type not in ZIP_METHODS:
            raise FormatError(
                f"{described} is packed with an unknown method "
                f"(number {info.compress_type}); use deflate",
                file=self.name,
            )
        if not path.parts:
            raise FormatError(f"{described} has no name", file=self.name)
        # Small files of one repeated letter are not bombs.
        if info.file_size > 1024 * 1024 and info.file_size > max_ratio * info.compress_size:
            raise FormatError(f"{described} is packed more than {max_ratio} to 1", file=self.name)
        return str(path)

    def names(self) -> list[str]:
        return sorted(self._entries)

    def _stream(self, name: str) -> ZipEntry:
        return ZipEntry(self._archive, self._entries[name])

    def close(self) -> None:
        super().close()
        self._archive.close()
        self._bytes.close()


def open_folder(path: str | Path, *, collect: bool = False) -> Folder:
    """Open the folder or zip archive at `path`; raise FormatError if there is none."""
    file = checked_path(path)
    if is_dir(file):
        return DirectoryFolder(file, collect=collect)
    stream = open_file(file)
    try:
        return ZipFolder(stream, str(path), collect=collect)
    except FormatError as error:
        stream.close()
        if error.message == NO_ZIP:
            message = "this is a file; a folder or a zip archive is needed"
            raise FormatError(message, file=error.file) from error
        raise
