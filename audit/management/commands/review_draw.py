"""`manage.py review_draw PROJECT draw|show|end`: draw the instructions to review."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotate.management.projects import get_project
from annotate.pairs.models import ReviewDraw
from annotate.projects.models import Project
from audit.reviews import draws
from base.commands import RejudgeCommand


class Command(RejudgeCommand):
    """Draw the instructions to review, print the current draw, or end it."""

    help = "Draw the instructions to review, show the current draw, or end it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", metavar="PROJECT", help="the project's short name")
        parser.add_argument("action", choices=["draw", "show", "end"])
        parser.add_argument("--size", type=int, help="instructions per stratum")
        parser.add_argument(
            "--strata",
            choices=ReviewDraw.Stratify.values,
            default=ReviewDraw.Stratify.NONE.value,
            help="how to form strata (default: one stratum)",
        )
        parser.add_argument("--seed", type=int, default=1, help="default: 1")
        parser.add_argument(
            "--fewer", action="store_true", help="take all of a stratum that has fewer"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        project = get_project(options["project"])
        if options["action"] == "draw":
            self._draw(project, options)
        elif options["action"] == "end":
            draws.end_draw(project=project, by=None)
        current = draws.current_draw(project)
        if current is None:
            self.stdout.write("There is no draw: every instruction is reviewed.")
            return
        for label, there, taken in current.strata:
            self.stdout.write(f"{label or 'none named'}\t{taken:,} of {there:,}")
        self.stdout.write(f"seed {current.draw.seed}\t{current.taken:,} of {current.total:,}")

    def _draw(self, project: Project, options: dict[str, Any]) -> None:
        if options["size"] is None:
            raise CommandError("Give the number of instructions per stratum with --size.")
        draws.draw_for_review(
            project=project,
            stratify=options["strata"],
            size=options["size"],
            seed=options["seed"],
            fewer=options["fewer"],
            by=None,
        )
