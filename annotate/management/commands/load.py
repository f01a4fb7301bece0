"""`manage.py load PROJECT FORMAT FILE…`: files into a project, each all or nothing."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentTypeError
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import DatabaseError, transaction

from annotate.collection.intake import KINDS, FileReport, file_on_disk, totals
from annotate.collection.load_jobs import check_grades, known_format, load_file
from annotate.collection.models import Run
from annotate.projects.actions import create_project, unmake_project
from annotate.projects.kinds import KINDS as PROJECT_KINDS
from annotate.projects.kinds.own import OWN
from annotate.projects.models import Project
from base.commands import RejudgeCommand
from base.errors import Refused
from base.progress_bar import Bar
from formats.limits import excerpt
from formats.registry import FORMATS

# Bad lines of one file that a terminal shows unasked.
SHOWN = 20


class Command(RejudgeCommand):
    """Loads files into a project and prints, for each, what was new in it."""

    help = (
        "Load files into a project, each all or nothing. Loading a file again changes nothing. "
        f"Formats: {', '.join(FORMATS)}."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("project", metavar="PROJECT", help="the project's short name")
        parser.add_argument("format", metavar="FORMAT", help="what the files are")
        parser.add_argument("files", metavar="FILE", nargs="+", help="files, or folders")
        parser.add_argument("--create", action="store_true", help="make the project if need be")
        parser.add_argument(
            "--kind",
            choices=list(PROJECT_KINDS),
            help="which way of working it follows, with --create (default: own)",
        )
        parser.add_argument(
            "--grades",
            type=_grades,
            help="its grades, with --create (default: those of the kind; own: 0,1,2)",
        )
        parser.add_argument(
            "--no-grade",
            type=int,
            metavar="N",
            help='this value means no grade: kept as a flag "cannot judge", of qrels as nothing',
        )
        parser.add_argument(
            "--pool",
            type=int,
            default=0,
            metavar="N",
            help="of a run: the first N documents of each query join the pool",
        )
        parser.add_argument(
            "--side",
            default="",
            choices=Run.Side.values,
            help="of a run: what it ranks documents for (default: as the ids on its lines say)",
        )
        parser.add_argument(
            "--despite-rules",
            action="store_true",
            help="load rows that break rules of the project's kind as they are",
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="say what would change, and change nothing"
        )
        parser.add_argument(
            "--all-errors",
            action="store_true",
            help=f"name every bad line of a file that is kept, not only the first {SHOWN}",
        )
        parser.add_argument("--json", action="store_true", help="print the counts as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            Project.objects.exists()
        except DatabaseError as error:
            raise CommandError(
                f"The database does not answer as it should: {error}. If it is new, run "
                "manage.py migrate first."
            ) from error
        try:
            known_format(options["format"])
            if options["dry_run"] and not Project.objects.filter(slug=options["project"]).exists():
                # The project is made as well, and is gone again afterwards.
                with transaction.atomic():
                    reports = self._load(options)
                    transaction.set_rollback(True)
            else:
                reports = self._load(options)
        except Refused as refused:
            raise CommandError(str(refused)) from refused
        except KeyboardInterrupt as interrupt:
            stopped = "Stopped. Nothing of the file that was being read is loaded."
            raise CommandError(stopped, returncode=130) from interrupt
        for report in reports:
            self._print_problems(report, every=options["all_errors"])
        if options["json"]:
            self._print_json(reports, options)
        else:
            lines = [line for report in reports for line in _lines(report)]
            if options["dry_run"]:
                lines.insert(0, "Dry run: nothing was written. This would happen:")
            self.stdout.write("\n".join(lines))
        if any(report.refused for report in reports):
            sys.exit(1)

    def _print_problems(self, report: FileReport, *, every: bool) -> None:
        """Name the bad lines of a file on stderr: all that are kept, or the first few. Before them
        those that break rules of the project's kind.
        """
        rows = report.broken_rules if every else report.broken_rules[:SHOWN]
        for row in rows:
            self.stderr.write(f"{row} (breaks a rule of the kind)")
        if report.broken > len(rows):
            self.stderr.write(f"{report.file}: and {report.broken - len(rows):,} more rows that do")
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
        project, made = _project(options)
        reports: list[FileReport] = []
        try:
            for file in options["files"]:
                progress = Bar(file)
                try:
                    report = load_file(
                        project=project,
                        format_name=options["format"],
                        file=file_on_disk(file),
                        no_grade=options["no_grade"],
                        pool=options["pool"],
                        side=options["side"],
                        despite_rules=options["despite_rules"],
                        dry_run=options["dry_run"],
                        progress=progress,
                    )
                finally:
                    progress.clear()
                reports.append(report)
        finally:
            if made and all(report.refused for report in reports):
                # It was made for files of which nothing is there.
                unmake_project(project=project)
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


def _lines(report: FileReport) -> list[str]:
    """Return what is said of one file, line by line."""
    counts = (
        f"{report.read:,} read, {report.new:,} new, {report.changed:,} changed, "
        f"{report.unchanged:,} unchanged, {report.refused:,} refused"
    )
    if report.refused:
        return [f"{report.file}: {counts}; nothing of it is loaded"]
    return [
        f"{report.file}: {counts}",
        *(
            f"  {KINDS[kind].lower():20} {rows.new:>10,} new {rows.changed:>10,} changed "
            f"{rows.unchanged:>10,} unchanged"
            for kind, rows in report.nonempty_counts()
        ),
        *(f"  {note}" for note in report.notes),
    ]


def _project(options: dict[str, Any]) -> tuple[Project, bool]:
    """Return the project, and whether it was made here."""
    slug, grades = options["project"], options["grades"]
    project = Project.objects.filter(slug=slug).first()
    if grades is not None and not options["create"]:
        raise Refused("--grades goes with --create: a project's grades are changed on its page.")
    kind = options["kind"]
    if kind is not None and not options["create"]:
        raise Refused("--kind goes with --create: a project's kind is changed on its page.")
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
            f"There is no project “{slug}”. Add --create to make it, "
            "with --grades 0,1,2 if its grades are others than these."
        )
    return create_project(slug=slug, grades=grades, kind=kind or OWN.key), True


def _grades(text: str) -> list[int]:
    """Read `0,1,2`."""
    try:
        grades = [int(part) for part in text.split(",")]
    except ValueError as error:
        raise ArgumentTypeError(f"{text!r} is no list of whole numbers like 0,1,2") from error
    if not all(-32_768 <= grade <= 32_767 for grade in grades):
        raise ArgumentTypeError("grades lie between -32768 and 32767")
    return grades
