"""`manage.py export PROJECT FORMAT --output DIR`: write the files of an export into a folder.

They are the same files as the page's. With `--release NAME` the files come from that release.
"""

from __future__ import annotations

import json
import shutil
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from django.core.management.base import CommandError

from annotate.management.projects import get_project
from annotate.projects.models import Project
from base.commands import RejudgeCommand
from base.errors import Refused
from base.texts import amount
from exporters.exports import actions
from exporters.exports.files import PROOF, has_only_heading
from exporters.exports.manifest import manifest
from exporters.exports.manifest.manifest import Manifest
from exporters.management.commands.release import find_release
from exporters.releases import actions as releasing
from formats.texts import CannotHold


class Command(RejudgeCommand):
    """Write an export of a project into a folder, whole or not at all."""

    help = "Write an export of a project into a folder, and print what is in it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="the project's short name")
        parser.add_argument("format", help=", ".join(actions.WRITERS))
        parser.add_argument(
            "--output",
            required=True,
            metavar="DIR",
            help="a folder that is new, empty, or holds an earlier export, which is replaced",
        )
        parser.add_argument(
            "--release", metavar="NAME", help="write the files of the release with this name"
        )
        parser.add_argument("--json", action="store_true", help="print the counts as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        project = get_project(options["project"])
        folder = Path(options["output"])
        try:
            actions.check_format(options["format"])
            source = _source(project, options["format"], options["release"])
            earlier = _files_of_earlier_export(folder)
            written = _write(source, folder, earlier)
        except CannotHold as error:
            raise CommandError(f"This cannot be written: {error}.") from error
        self._print(written, folder, as_json=options["json"])

    def _print(self, written: Manifest, folder: Path, *, as_json: bool) -> None:
        if as_json:
            summary = {"output": str(folder), **written}
            del summary["pairs"]
            self.stdout.write(json.dumps(summary, ensure_ascii=False, indent=2))
            return
        for heading, rows in manifest.groups(written["counts"]):
            self.stdout.write(heading)
            for words, count in rows:
                self.stdout.write(f"{count:>12,}  {words}")
        self.stdout.write("")
        for sentence in [*written["warnings"], *written["notes"]]:
            self.stdout.write(sentence)
        for entry in written["files"]:
            heading = ", only the heading" if has_only_heading(entry) else ""
            lines = amount(entry["lines"], "line")
            self.stdout.write(f"{folder / entry['name']}  {lines}{heading}")
        self.stdout.write(str(folder / manifest.NAME))


def _files_of_earlier_export(folder: Path) -> list[str]:
    """Return the files in `folder` that an earlier export wrote; refuse a folder with others."""
    if not folder.exists():
        return []
    if not folder.is_dir():
        raise Refused(f"{folder} is not a folder. Name one that is new or empty.")
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    ours: set[str] = set()
    if manifest.NAME in there:
        try:
            earlier = json.loads((folder / manifest.NAME).read_bytes())
            ours = {entry["name"] for entry in earlier["files"]} | {manifest.NAME, PROOF}
        except (ValueError, KeyError, TypeError):
            ours = set()
    if foreign := sorted(there - ours):
        raise Refused(
            f"{folder} holds {foreign[0]}, which no export wrote. Name a folder that is new or "
            "empty, or that holds an earlier export."
        )
    return sorted(there)


# Writes an export into an empty folder.
Source = Callable[[Path], Manifest]


def _source(project: Project, format_name: str, release: str | None) -> Source:
    """Return the writer of the files: from the current rows, or from the release of this name."""
    if release is None:
        return lambda scratch: actions.write(project, format_name, scratch)
    named = find_release(project, release)
    return lambda scratch: releasing.copy_format(named, format_name, scratch)


def _write(source: Source, folder: Path, earlier: list[str]) -> Manifest:
    """Write into a scratch folder, then replace the earlier files.

    The old manifest is removed first and the new one is moved in last.
    """
    made = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    scratch = Path(mkdtemp(prefix=".rejudge-", dir=folder))
    try:
        written = source(scratch)
        for name in sorted(earlier, key=lambda name: name != manifest.NAME):
            (folder / name).unlink()
        for emptied in _folders_containing(folder, earlier):
            emptied.rmdir()
        for name in [entry["name"] for entry in written["files"]] + [manifest.NAME]:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (scratch / name).replace(folder / name)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        if made and not any(folder.iterdir()):
            folder.rmdir()
    return written


def _folders_containing(folder: Path, files: list[str]) -> list[Path]:
    """Return the folders that contain these files, each before its parent."""
    folders = {parent for name in files for parent in (folder / name).parents}
    within = [one for one in folders if one != folder and one.is_relative_to(folder)]
    return sorted(within, key=lambda one: len(one.parts), reverse=True)
