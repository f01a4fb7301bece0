"""Files that are handed over in memory, for tests of the intake."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from typing import Any

from annotate.collection import intake
from annotate.collection.intake import Arrived, FileReport
from annotate.collection.load_jobs import load_file
from annotate.models import Project
from base import bulk
from formats.folders import Folder, ZipFolder
from formats.registry import Format, lookup
from formats.source import Source


def arrived(content: bytes, name: str = "file.txt") -> Arrived:
    """A file that is nowhere but here; a zip archive is a folder."""

    def opened(kind: Format) -> Source | Folder:
        if kind.kind == "folder":
            return ZipFolder(io.BytesIO(content), name, collect=True)
        return Source(content, name, collect=True)

    return Arrived(name, len(content), opened, lambda: io.BytesIO(content))


def load(
    project: Project, kind: str, content: str | bytes, name: str = "file.txt", **options: Any
) -> FileReport:
    """Load some lines, as the command does a file; `now`, `no_grade`, `pool`, `dry_run`."""
    content = content.encode() if isinstance(content, str) else content
    return load_file(project=project, format_name=kind, arrived=arrived(content, name), **options)


def load_records(project: Project, *records: Any, **options: Any) -> FileReport:
    """Load records as if each stood on a line of its own and its reader had no memory."""

    def read(source: Source) -> Iterator[Any]:
        for source.line, record in enumerate(records, 1):
            yield record

    kind = lookup("judgments-jsonl")._replace(read=read)
    return intake.load(project=project, kind=kind, arrived=arrived(b"x"), **options)


def jsonl(*records: dict[str, Any]) -> str:
    """One JSON object a line."""
    return "".join(json.dumps(record) + "\n" for record in records)


def folder(**files: str) -> bytes:
    """A folder as a zip archive; `__` in a name stands for a slash, `_` before the ending for a
    point.
    """
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, text in files.items():
            stem, _, ending = name.replace("__", "/").rpartition("_")
            archive.writestr(f"{stem}.{ending}", text)
    return stream.getvalue()


def counts(report: FileReport) -> tuple[int, int, int, int, int]:
    """(read, new, changed, unchanged, refused)."""
    return report.read, report.new, report.changed, report.unchanged, report.refused


def rows(report: FileReport) -> dict[str, tuple[int, int, int]]:
    """Kind of rows -> (new, changed, unchanged)."""
    return {kind: (n.new, n.changed, n.unchanged) for kind, n in report.in_order()}


def problems(report: FileReport) -> list[str]:
    """What was refused, each as `file:line: sentence`."""
    return [str(problem) for problem in report.problems]


def stages() -> list[str]:
    """The temporary tables there are."""
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
