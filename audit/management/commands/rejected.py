"""`manage.py rejected PROJECT`: print sent-back instructions for a generator to rewrite."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import CommandParser

from annotate.management.projects import get_project
from audit.reviews.rejected import lines, rejected
from base.commands import RejudgeCommand


class Command(RejudgeCommand):
    """Print rejected instructions as JSON lines, with the criteria and the auditors' comments."""

    help = (
        "Print the instructions of a language model that were sent back. Each line is a JSON "
        "object with the criteria and the auditors' words. Load the rewritten ones as pairs-jsonl."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("project", metavar="PROJECT", help="the project's short name")
        parser.add_argument("--output", metavar="FILE", help="write a file instead of printing")
        parser.add_argument(
            "--undecided",
            action="store_true",
            help="also those that an auditor rejects and no lead has decided on yet",
        )
        parser.add_argument("--everyone", action="store_true", help="also those that people wrote")

    def handle(self, *args: Any, **options: Any) -> None:
        project = get_project(options["project"])
        narratives = rejected(project, undecided=options["undecided"], everyone=options["everyone"])
        if options["output"] is None:
            for line in lines(narratives):
                self.stdout.write(line, ending="")
            return
        count = 0
        with open(options["output"], "w", encoding="utf-8", newline="\n") as file:  # noqa: PTH123
            for line in lines(narratives):
                file.write(line)
                count += 1
        print(f"{options['output']}: {count:,} rejected", file=sys.stderr)
