"""`manage.py load PROJECT FORMAT FILE…`: load files into a project, each all or nothing."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentTypeError
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from annotate.collection.intake import KINDS, FileReport, file_on_disk, totals
from annotate.collection.models import Run
from annotate.loading.load import check_grades, known_format
from annotate.loading.load_jobs import load_by_command
from annotate.projects.actions import create_project, delete_new_project
from annotate.projects.kinds import KINDS as PROJECT_KINDS
from annotate.projects.kinds.own import OWN
from annotate.projects.models import Project
from base.commands import Bar, RejudgeCommand
from base.errors import Refused
from formats.registry import FORMATS
from formats.texts import excerpt

# How many bad lines of one file are printed without --all-errors.
SHOWN = 20


class Command(RejudgeCommand):
    """Load files into a project and print, for each, what was new in it."""

    help = (
        "Load files into a project, each all or nothing. Loading a file again changes nothing. "
        f"Formats: {', '.join(FORMATS)}."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("project", metavar="PROJECT", help="the project's short name")
        parser.add_argument("format", metavar="FORMAT", help="the format of the files")
        parser.add_argument("files", metavar="FILE", nargs="+", help="files or folders")
        parser.add_argument(
            "--create", action="store_true", help="create the project if it does not exist"
        )
        parser.add_argument(
            "--kind",
            choices=list(PROJECT_KINDS),
            help="the kind of the new project, with --create (default: own)",
        )
        parser.add_argument(
            "--grades",
            type=_parse_grades,
            help="the new project's grades, with --create (default: those of its kind; own: 0,1,2)",
        )
        parser.add_argument(
            "--no-grade",
            type=int,
            metavar="N",
            help='this value means no grade: stored as a flag "cannot judge", in qrels as nothing',
        )
        parser.add_argument(
            "--pool",
            type=int,
            default=0,
            metavar="N",
            help="runs: add the first N documents of each query to the pool",
        )
        parser.add_argument(
            "--side",
            default="",
            choices=Run.Side.values,
            help="runs: the side of the narratives they ranked for (default: given by their ids)",
        )
        parser.add_argument(
            "--despite-rules",
            action="store_true",
            help="load rows even if they break rules of the project's kind",
        )
        parser.add_argument(
            "--carry-claims",
            action="store_true",
            help="copy machines' claims to new versions of narratives without any in the file",
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="print what would change, and change nothing"
        )
        parser.add_argument(
            "--all-errors",
            action="store_true",
            help=f"print every recorded bad line of a file, not only the first {SHOWN}",
        )
        parser.add_argument("--json", action="store_true", help="print the counts as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            known_format(options["format"])
            if options["dry_run"] and not Project.objects.filter(slug=options["project"]).exists():
                # The project is created in this transaction too, and rolled back with it.
                with transaction.atomic():
                    reports = self._load(options)
                    transaction.set_rollback(True)
            else:
                reports = self._load(options)
        except KeyboardInterrupt as interrupt:
            stopped = "Stopped. Nothing of the file being read was loaded."
            raise CommandError(stopped, returncode=130) from interrupt
        for report in reports:
            self._print_problems(report, every=options["all_errors"])
        if options["json"]:
            self._print_json(reports, options)
        else:
            lines = [line for report in reports for line in _report_lines(report)]
            if options["dry_run"]:
                lines.insert(0, "Dry run: nothing was written. This would happen:")
            self.stdout.write("\n".join(lines))
        if any(report.refused for report in reports):
            sys.exit(1)

    def _print_problems(self, report: FileReport, *, every: bool) -> None:
        """Print a file's bad lines to stderr: all that are kept, or the first few.

        Rows that break rules of the project's kind come first.
        """
        rows = report.broken_rules if every else report.broken_rules[:SHOWN]
        for row in rows:
            self.stderr.write(f"{row} (breaks a rule of the kind)")
        if report.broken > len(rows):
            self.stderr.write(
                f"{report.file}: and {report.broken - len(rows):,} more rows that break rules"
            )
        shown = report.problems if every else report.problems[:SHOWN]
        for problem in shown:
            text = f": {excerpt(problem.text)}" if problem.text else ""
            self.stderr.write(f"{problem}{text}")
        more = report.refused - len(shown)
        if not more:
            return
        kept = len(report.problems)
        which = "them" if kept == report.refused else f"the first {kept:,}"
        hint = "" if every or kept == len(shown) else f"; --all-errors shows {which}"
        self.stderr.write(f"{report.file}: and {more:,} more{hint}")

    def _load(self, options: dict[str, Any]) -> list[FileReport]:
        project, created = _get_or_create_project(options)
        reports: list[FileReport] = []
        try:
            for file in options["files"]:
                progress = Bar(file)
                try:
                    report = load_by_command(
                        project=project,
                        format_name=options["format"],
                        file=file_on_disk(file),
                        no_grade=options["no_grade"],
                        pool=options["pool"],
                        side=options["side"],
                        despite_rules=options["despite_rules"],
                        carry_claims=options["carry_claims"],
                        dry_run=options["dry_run"],
                        progress=progress,
                    )
                finally:
                    progress.clear()
                reports.append(report)
        finally:
            if created and all(report.refused for report in reports):
                # It was created for these files, and nothing of them was loaded.
                delete_new_project(project=project)
        return reports

    def _print_json(self, reports: list[FileReport], options: dict[str, Any]) -> None:
        shown = {
            "project": options["project"],
            "format": options["format"],
            "dry_run": options["dry_run"],
            **totals(reports),
            "files": [report.as_json() for report in reports],
        }
        self.stdout.write(json.dumps(shown, ensure_ascii=False, indent=2))


def _report_lines(report: FileReport) -> list[str]:
    """Return the report on one file as lines of text."""
    counts = (
        f"{report.read:,} read, {report.new:,} new, {report.changed:,} changed, "
        f"{report.unchanged:,} unchanged, {report.refused:,} refused"
    )
    if report.refused:
        return [f"{report.file}: {counts}; nothing was loaded"]
    return [
        f"{report.file}: {counts}",
        *(
            f"  {KINDS[kind].lower():28} {rows.new:>8,} new {rows.changed:>8,} changed "
            f"{rows.unchanged:>8,} unchanged"
            for kind, rows in report.nonempty_counts()
        ),
        *(f"  {note}" for note in report.notes),
    ]


def _get_or_create_project(options: dict[str, Any]) -> tuple[Project, bool]:
    """Return the project, and whether this call created it."""
    slug, grades = options["project"], options["grades"]
    project = Project.objects.filter(slug=slug).first()
    if grades is not None and not options["create"]:
        raise Refused(
            "--grades needs --create. Change the grades of an existing project on its page."
        )
    kind = options["kind"]
    if kind is not None and not options["create"]:
        raise Refused("--kind needs --create. Change the kind of an existing project on its page.")
    if project is not None:
        if kind is not None and kind != project.kind:
            raise Refused(
                f"The project “{slug}” is of the kind {project.kind}, not {kind}. Leave --kind "
                "out, or change the kind in the project's settings."
            )
        if grades is not None:
            check_grades(project=project, grades=grades)
        return project, False
    if not options["create"]:
        raise Refused(
            f"There is no project “{slug}”. Add --create to create it, "
            "and --grades if its grades are not 0,1,2."
        )
    return create_project(slug=slug, grades=grades, kind=kind or OWN.key), True


def _parse_grades(text: str) -> list[int]:
    """Parse grades such as `0,1,2`."""
    try:
        grades = [int(part) for part in text.split(",")]
    except ValueError as error:
        raise ArgumentTypeError(f"{text!r} is not a list of whole numbers like 0,1,2") from error
    if not all(-32_768 <= grade <= 32_767 for grade in grades):
        raise ArgumentTypeError("grades must be between -32768 and 32767")
    return grades
