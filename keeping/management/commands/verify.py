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
            results = [verify(one, earlier) for one in _projects(options["project"], earlier)]
        if options["keep"]:
            _write_ends_file(options["keep"], results)
        differences = sum(one.wrong for one in results)
        if options["json"]:
            self.stdout.write(json.dumps(_as_json(results), indent=2))
        else:
            self._print_faults(results)
        if differences:
            raise CommandError(f"Differences from the chains: {differences:,}.")

    def _print_faults(self, results: list[Verification]) -> None:
        for one in results:
            rows = ", ".join(f"{count:,} {kind}" for kind, count in sorted(one.rows.items()))
            name = one.project or "The installation"
            self.stdout.write(f"{name}: {rows or 'nothing'}; {one.links:,} links; sum {one.sum}")
            for fault in one.faults:
                self.stdout.write(f"  {fault.sentence}")
            if one.wrong > len(one.faults):
                self.stdout.write(f"  and {one.wrong - len(one.faults):,} more")


def _projects(slug: str | None, earlier: dict[ChainPlace, End]) -> list[Project | None]:
    if slug is None:
        projects = list(Project.objects.order_by("slug"))
        gone = {name for name, _chain in earlier if name} - {one.slug for one in projects}
        if gone:
            raise CommandError(f"Projects gone since then: {', '.join(sorted(gone))}.")
        return [None, *projects]
    return [get_project(slug)]


def _read_earlier_ends(path: Path) -> dict[ChainPlace, End]:
    try:
        with path.open(encoding="utf-8", errors="replace") as stream:
            return read_ends(stream)
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise CommandError(f"{path}: {error}.") from error


def _write_ends_file(path: Path, results: list[Verification]) -> None:
    try:
        with path.open("x", encoding="utf-8") as stream:
            for one in results:
                stream.writelines(write_ends(one))
    except FileExistsError as error:
        raise CommandError(f"{path} already exists. Name a new file.") from error
    except OSError as error:
        raise CommandError(f"{path} cannot be written: {error.strerror}.") from error


def _as_json(results: list[Verification]) -> dict[str, Any]:
    return {
        "wrong": sum(one.wrong for one in results),
        "projects": [
            {
                "project": one.project or None,
                "rows": dict(sorted(one.rows.items())),
                "links": one.links,
                "chains": len(one.ends),
                "sum": one.sum,
                "wrong": one.wrong,
                "faults": [fault.as_json() for fault in one.faults],
            }
            for one in results
        ],
    }
