"""Recognize the format of a file by its beginning, and of an archive by the names in it."""

from __future__ import annotations

import zipfile
from typing import IO

from formats import followtable, infosearch, multi_infosearch, published
from formats.folders import ZipFolder
from formats.problems import FormatError
from formats.reading import guess_format
from formats.registry import FORMATS, Format
from formats.source import Source

UNKNOWN_ARCHIVE = (
    "this is a zip archive, and its files show no format; choose the format, or unpack the archive "
    "and give the files inside"
)


def recognize(stream: IO[bytes]) -> Format | None:
    """Return the format that a file or a zip archive clearly has, or None.

    Reads only the beginning of a file and the names in an archive; leaves `stream` at its start.
    """
    try:
        if zipfile.is_zipfile(stream):
            name = _recognize_folder(set(ZipFolder(stream, "").names()))
        else:
            stream.seek(0)
            name = guess_format(Source(stream, collect=True).read_beginning())
            if name is not None and FORMATS[name].kind == "folder":
                # One file of a folder, from which the rest is missing.
                name = None
    except FormatError:
        name = None
    stream.seek(0)
    return None if name is None else FORMATS[name]


def explain_unrecognized(stream: IO[bytes]) -> FormatError | None:
    """Return why `recognize` found no format; None if it is text whose format is not clear.

    Leaves `stream` at its start.
    """
    try:
        if zipfile.is_zipfile(stream):
            ZipFolder(stream, "")
            return FormatError(UNKNOWN_ARCHIVE)
        stream.seek(0)
        Source(stream).read_beginning()
    except FormatError as error:
        return error
    finally:
        stream.seek(0)
    return None


def _recognize_folder(names: set[str]) -> str | None:
    if followtable.LIST in names:
        return "followtable"
    if {multi_infosearch.RECORDS, multi_infosearch.DOCUMENTS} <= names:
        return "multi-infosearch-folder"
    if any(name.startswith(f"{infosearch.ORIGINAL}/") for name in names):
        return "infosearch"
    if {published.QUERIES, published.INSTRUCTIONS, published.QRELS} <= names:
        return "hf" if "README.md" in names else "mteb"
    return "beir" if {published.QUERIES, published.CORPUS} <= names else None
