"""Short ways to say "this text, read as that format" in the tests of formats."""

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


def zipped(files: Mapping[str, str | bytes]) -> bytes:
    """A zip archive of these files."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def opened(
    name: str, content: str | bytes | Mapping[str, str | bytes], *, collect: bool = False
) -> Source | ZipFolder:
    """The content as what the format reads: a source named `file`, or a folder named `folder`."""
    if isinstance(content, Mapping):
        content = zipped(content)
    data = content.encode() if isinstance(content, str) else content
    if lookup(name).kind == "folder":
        return ZipFolder(io.BytesIO(data), "folder", collect=collect)
    return Source(data, "file", collect=collect)


def read(name: str, content: str | bytes | Mapping[str, str | bytes]) -> list[Any]:
    """Every record of the content."""
    return list(lookup(name).read(opened(name, content)))


def refusal(name: str, content: str | bytes | Mapping[str, str | bytes]) -> FormatError:
    """The error the content is refused with."""
    with pytest.raises(FormatError) as caught:
        read(name, content)
    return caught.value


def read_collecting(
    name: str, content: str | bytes | Mapping[str, str | bytes]
) -> tuple[list[Any], list[str]]:
    """The records that could be read, and the sentence of every problem met."""
    source = opened(name, content, collect=True)
    records = list(lookup(name).read(source))
    return records, [str(problem) for problem in source.problems]


def written(name: str, records: Iterable[Any]) -> bytes:
    """What the format's writer makes of the records."""
    write = lookup(name).write
    assert write is not None, f"{name} is not written"
    stream = io.BytesIO()
    write(records, stream)
    return stream.getvalue()
