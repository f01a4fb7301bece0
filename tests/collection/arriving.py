"""Helpers to load files from memory, for tests of the intake."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from typing import Any

from annotate.collection.intake import FileReport, InputFile
from annotate.loading.load import load_file, load_rows
from annotate.models import Project
from base import bulk
from formats.folders import Folder, ZipFolder
from formats.registry import Format, lookup
from formats.source import Source


def in_memory(content: bytes, name: str = "file.txt") -> InputFile:
    """Return a file in memory; a zip archive is a folder."""

    def opened(kind: Format) -> Source | Folder:
        if kind.kind == "folder":
            return ZipFolder(io.BytesIO(content), name, collect=True)
        return Source(content, name, collect=True)

    return InputFile(name, len(content), opened, lambda: io.BytesIO(content))


def load(
    project: Project, kind: str, content: str | bytes, name: str = "file.txt", **options: Any
) -> FileReport:
    """Load content as the command loads a file; `options` are those of `load_file`."""
    content = content.encode() if isinstance(content, str) else content
    return load_file(project=project, format_name=kind, file=in_memory(content, name), **options)


def load_records(project: Project, *records: Any, **options: Any) -> FileReport:
    """Load records as if each were on its own line, by a reader that does not check repeats."""

    def read(source: Source) -> Iterator[Any]:
        for source.line, record in enumerate(records, 1):
            yield record

    kind = lookup("judgments-jsonl")._replace(read=read)
    return load_rows(project=project, kind=kind, file=in_memory(b"x"), **options)


def jsonl(*records: dict[str, Any]) -> str:
    """Return one JSON object per line."""
    return "".join(json.dumps(record) + "\n" for record in records)


def folder(**files: str) -> bytes:
    """Return a folder as a zip archive.

    In names, `__` stands for a slash and `_` before the ending for a point.
    """
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, text in files.items():
            stem, _, ending = name.replace("__", "/").rpartition("_")
            archive.writestr(f"{stem}.{ending}", text)
    return stream.getvalue()


def counts(report: FileReport) -> tuple[int, int, int, int, int]:
    """Return (read, new, changed, unchanged, refused)."""
    return report.read, report.new, report.changed, report.unchanged, report.refused


def rows(report: FileReport) -> dict[str, tuple[int, int, int]]:
    """Map kinds of rows to (new, changed, unchanged)."""
    return {kind: (n.new, n.changed, n.unchanged) for kind, n in report.nonempty_counts()}


def problems(report: FileReport) -> list[str]:
    """Return the problems, each as `file:line: sentence`."""
    return [str(problem) for problem in report.problems]


def stages() -> list[str]:
    """Return the names of the existing temporary tables."""
    if bulk.on_postgresql():
        return [
            name
            for (name,) in bulk.select(
                "SELECT relname FROM pg_class WHERE relpersistence = 't' AND relkind = 'r'"
            )
        ]
    return [
        name for (name,) in bulk.select("SELECT name FROM sqlite_temp_master WHERE type = 'table'")
    ]
