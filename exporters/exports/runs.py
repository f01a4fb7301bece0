"""Write the runs of a project as files of an export."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from shutil import copyfileobj

from annotate.collection.models import Run
from annotate.projects.models import Project
from exporters.exports import collection
from exporters.exports.files import BUFFER, Writer


def write_runs(project: Project, into: Writer) -> None:
    """Copy every run of the project to `runs/`, byte for byte."""
    for name, run in _file_names(collection.runs(project)):
        with (
            run.file.open("rb") as source,
            into.file(f"runs/{name}", "A run, as it was uploaded.") as stream,
        ):
            copyfileobj(source, stream, BUFFER)


def _file_names(runs: list[Run]) -> Iterator[tuple[str, Run]]:
    """Name each run's file as it was uploaded, without folders and with a number if taken."""
    taken: set[str] = set()
    for run in runs:
        plain = PurePosixPath(run.name.replace("\\", "/")).name or "run"
        name, number = plain, 1
        while name.casefold() in taken:
            number += 1
            name = f"{number}-{plain}"
        taken.add(name.casefold())
        yield name, run
