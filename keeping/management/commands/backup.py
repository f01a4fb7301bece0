"""`manage.py backup FILE`: write the whole installation, or one project, to one file."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from base.commands import Bar, RejudgeCommand
from keeping.backup import BackupCounts, back_up

# Exit code if the backup was written, but files that rows name did not exist.
MISSING = 2


class Command(RejudgeCommand):
    """Writes a consistent backup while people go on working."""

    help = (
        "Write the whole installation, or one project, to one new file. `restore` reads it on "
        "SQLite or PostgreSQL. It contains all rows and files and, of a whole installation, the "
        "password hashes: protect it like the installation itself."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the arguments for the file and the project."""
        parser.add_argument("file", metavar="FILE", help="a file that does not exist yet")
        parser.add_argument(
            "--project", metavar="PROJECT", help="only this project, by its short name"
        )
        parser.add_argument("--json", action="store_true", help="print the counts as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the backup and report its contents."""
        path = Path(options["file"])
        bar = Bar(path.name)
        try:
            counts = back_up(path=path, project=options["project"], progress=bar)
        except KeyboardInterrupt as interrupt:
            raise CommandError("Stopped. Nothing was written.", returncode=130) from interrupt
        finally:
            bar.clear()
        self._report(counts, path, as_json=options["json"])
        if counts.missing:
            named = "\n".join(f"  {name}" for name in counts.missing)
            raise CommandError(
                f"The backup is written, but these files, which rows name, do not exist:\n{named}",
                returncode=MISSING,
            )

    def _report(self, counts: BackupCounts, path: Path, *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps({"file": str(path), **counts._asdict()}, indent=2))
            return
        self.stdout.write(
            f"{path}: {counts.rows:,} rows and {counts.files:,} files in {counts.bytes:,} bytes."
        )
