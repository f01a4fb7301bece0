"""`manage.py restore FILE`: restore a backup completely or not at all."""

from __future__ import annotations

import json
import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from base.commands import Bar, RejudgeCommand
from keeping import archive
from keeping.restore import RestoreResult, check, restore


class Command(RejudgeCommand):
    """Restores a backup, after all of it was compared with its digests."""

    help = (
        "Restore a file of `backup`: a whole installation into an empty one, a project into any. "
        "Rows and files are restored completely or not at all."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the arguments for the file and the project."""
        parser.add_argument("file", metavar="FILE", help="a file that `backup` wrote")
        parser.add_argument(
            "--as", dest="slug", metavar="NAME", help="give the project this short name"
        )
        parser.add_argument(
            "--check",
            action="store_true",
            help="only compare everything with its digests, and describe the backup",
        )
        parser.add_argument("--json", action="store_true", help="print the counts as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Check the backup, restore it, and report what was restored."""
        # Only this system account may read the data, whatever the folder's permissions are.
        os.umask(0o077)
        path = Path(options["file"])
        bar = Bar(path.name)
        try:
            if options["check"]:
                summary = _manifest_summary(check(path=path, progress=bar))
                lines = [f"{path} is complete: {_describe(summary)}"]
            else:
                result = restore(path=path, slug=options["slug"], progress=bar)
                summary, lines = result._asdict(), _report_lines(result)
        except KeyboardInterrupt as interrupt:
            raise CommandError("Stopped. Nothing was restored.", returncode=130) from interrupt
        finally:
            bar.clear()
        self.stdout.write(json.dumps(summary, indent=2) if options["json"] else "\n".join(lines))


def _manifest_summary(manifest: archive.Manifest) -> dict[str, Any]:
    return {
        "project": manifest["project"],
        "version": manifest["version"],
        "made_at": manifest["made_at"],
        "database": manifest["database"],
        "rows": sum(table["rows"] for table in manifest["tables"]),
        "files": len(manifest["files"]),
        "missing": manifest["missing"],
    }


def _describe(summary: dict[str, Any]) -> str:
    what = f"the project “{summary['project']}”" if summary["project"] else "a whole installation"
    return (
        f"{what}, {summary['rows']:,} rows and {summary['files']:,} files, made "
        f"{summary['made_at']} by Rejudge {summary['version']} on {summary['database']}."
    )


def _report_lines(result: RestoreResult) -> list[str]:
    what = f"The project “{result.project}”" if result.project else "The installation"
    lines = [f"{what} was restored: {result.rows:,} rows and {result.files:,} files."]
    if result.found:
        lines.append(
            f"These accounts existed already and did not change: {', '.join(result.found)}."
        )
    if result.made:
        lines.append(
            f"These accounts are new and have no password yet: {', '.join(result.made)}. "
            f"Set one with {settings.COMMAND} changepassword NAME."
        )
    lines += [f"Missing when the backup was made: {name}" for name in result.missing]
    return lines
