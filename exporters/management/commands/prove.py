"""`manage.py prove FOLDER`: read a written layout with the field's tools, and compare."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from base.commands import RejudgeCommand
from exporters.exports.files import PROOF
from exporters.exports.proof.proving import DIFFERS, FAILED, NOT_INSTALLED, prove


class Command(RejudgeCommand):
    """Prove that a layout loads, and record what each tool read."""

    help = "Load a written layout with the installed tools, compare, and write proof.json."
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "folder",
            metavar="FOLDER",
            help="a folder written by the command export; the package of ir-datasets is executed",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        folder = Path(options["folder"])
        made = prove(folder)
        for part, facts in made["expected"].items():
            self.stdout.write(f"{facts['count']:>12,}  {part}")
        for name, value in made["oracle"].items():
            shown = "undefined" if value is None else f"{value:.4f}"
            self.stdout.write(f"{shown:>12}  {name} of the oracle")
        for one in made["results"]:
            named = " ".join(filter(None, (one["tool"], one["version"])))
            self.stdout.write(f"{named}: {one['result']}{''.join(f'; {s}' for s in one['says'])}")
        self.stdout.write(str(folder / PROOF))
        if any(one["result"] in (DIFFERS, FAILED) for one in made["results"]):
            raise CommandError("A tool did not read the content of the files correctly.")
        if all(one["result"] == NOT_INSTALLED for one in made["results"]):
            raise CommandError(
                "Nothing is proven: none of these tools is installed. Install one of them beside "
                "Rejudge as its line says, then run this again."
            )
