"""Helpers for tests that read and write texts in a format."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from formats.folders import ZipFolder
from formats.problems import FormatError
from formats.registry import lookup
from formats.source import Source


def zip_files(files: Mapping[str, str | bytes]) -> bytes:
    """Return a zip archive of these files."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def open_content(
    name: str, content: str | bytes | Mapping[str, str | bytes], *, collect: bool = False
) -> Source | ZipFolder:
    """Return the content as the format's input: a source `file`, or a folder `folder`."""
    if isinstance(content, Mapping):
        content = zip_files(content)
    data = content.encode() if isinstance(content, str) else content
    if lookup(name).kind == "folder":
        return ZipFolder(io.BytesIO(data), "folder", collect=collect)
    return Source(data, "file", collect=collect)


def read(name: str, content: str | bytes | Mapping[str, str | bytes]) -> list[Any]:
    """Return every record of the content."""
    return list(lookup(name).read(open_content(name, content)))


def refusal(name: str, content: str | bytes | Mapping[str, str | bytes]) -> FormatError:
    """Return the error with which the content is refused."""
    with pytest.raises(FormatError) as caught:
        read(name, content)
    return caught.value


def read_collecting(
    name: str, content: str | bytes | Mapping[str, str | bytes]
) -> tuple[list[Any], list[str]]:
    """Return the records that could be read, and the sentences of all problems."""
    source = open_content(name, content, collect=True)
    records = list(lookup(name).read(source))
    return records, [str(problem) for problem in source.problems]


def write_records(name: str, records: Iterable[Any]) -> bytes:
    """Return the bytes that the format's writer makes of the records."""
    write = lookup(name).write
    assert write is not None, f"{name} is not written"
    stream = io.BytesIO()
    write(records, stream)
    return stream.getvalue()
