"""`manage.py verify`: compare the rows with their hash chains."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotate.management.projects import get_project
from annotate.projects.hash_chain import End
from annotate.projects.models import Project
from base.commands import RejudgeCommand
from base.snapshot import snapshot
from keeping.verify import ChainPlace, Verification, read_ends, verify, write_ends


class Command(RejudgeCommand):
    """Exits with 0 if every row matches its chain, else lists the faults and exits with 1."""

    help = "Compare judgments and audit events with their hash chains."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the arguments for the project and the file of chain ends."""
        parser.add_argument(
            "project", nargs="?", help="the project's short name; without it, everything"
        )
        parser.add_argument("--json", action="store_true", help="print JSON")
        parser.add_argument(
            "--keep", metavar="FILE", type=Path, help="write the ends of all chains to a new file"
        )
        parser.add_argument(
            "--against",
            metavar="FILE",
            type=Path,
            help="an earlier file of --keep: every link that existed then must still exist",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Verify the projects and report the faults."""
        earlier = _read_earlier_ends(options["against"]) if options["against"] else {}
        with snapshot():
            results = [
                verify(project, earlier) for project in _projects(options["project"], earlier)
            ]
        if options["keep"]:
            with options["keep"].open("x", encoding="utf-8") as stream:
                for result in results:
                    stream.writelines(write_ends(result))
        differences = sum(result.wrong for result in results)
        if options["json"]:
            self.stdout.write(json.dumps(_as_json(results), indent=2))
        else:
            self._print_faults(results)
        if differences:
            raise CommandError(f"Differences from the chains: {differences:,}.")

    def _print_faults(self, results: list[Verification]) -> None:
        for result in results:
            rows = ", ".join(f"{count:,} {kind}" for kind, count in sorted(result.rows.items()))
            name = result.project or "The installation"
            self.stdout.write(
                f"{name}: {rows or 'nothing'}; {result.links:,} links; sum {result.sum}"
            )
            for fault in result.faults:
                self.stdout.write(f"  {fault.sentence}")
            if result.wrong > len(result.faults):
                self.stdout.write(f"  and {result.wrong - len(result.faults):,} more")


def _projects(slug: str | None, earlier: dict[ChainPlace, End]) -> list[Project | None]:
    if slug is None:
        projects = list(Project.objects.order_by("slug"))
        gone = {name for name, _chain in earlier if name} - {project.slug for project in projects}
        if gone:
            raise CommandError(f"Projects gone since then: {', '.join(sorted(gone))}.")
        return [None, *projects]
    return [get_project(slug)]


def _read_earlier_ends(path: Path) -> dict[ChainPlace, End]:
    try:
        with path.open(encoding="utf-8", errors="replace") as stream:
            return read_ends(stream)
    except ValueError as error:
        raise CommandError(f"{path}: {error}.") from error


def _as_json(results: list[Verification]) -> dict[str, Any]:
    return {
        "wrong": sum(result.wrong for result in results),
        "projects": [
            {
                "project": result.project or None,
                "rows": dict(sorted(result.rows.items())),
                "links": result.links,
                "chains": len(result.ends),
                "sum": result.sum,
                "wrong": result.wrong,
                "faults": [fault.as_json() for fault in result.faults],
            }
            for result in results
        ],
    }
