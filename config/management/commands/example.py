"""`manage.py example FOLDER`: copy the files of an example, to load them by hand."""

from __future__ import annotations

import shutil
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from base.commands import RejudgeCommand
from config.examples.making import FOLDER, OWN_FILES, kinds_with_examples


class Command(RejudgeCommand):
    """Copies the files of an example into a new folder."""

    help = "Copy the files of the example project, or of a kind's example, into a new folder."
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the folder and the kind."""
        parser.add_argument("folder", metavar="FOLDER", type=Path, help="the folder to make")
        parser.add_argument(
            "--kind", choices=kinds_with_examples(), help="the kind whose example is copied"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Copy the files."""
        folder, kind = options["folder"], options["kind"]
        if folder.exists():
            raise CommandError(f"{folder} exists already. Name a folder that does not.")
        shutil.copytree(FOLDER / kind if kind else OWN_FILES, folder)
        self.stdout.write(f"{len(list(folder.iterdir()))} files are in {folder}")
