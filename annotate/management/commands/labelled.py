"""`manage.py labelled PROJECT`: how much of the top of each run has a label."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from annotate.management.projects import get_project
from annotate.pools.labelled import CUTOFFS, labelled_at
from base.commands import RejudgeCommand


class Command(RejudgeCommand):
    """Print labelled@k of every run, as a table with tabs."""

    help = "Print which share of the first k documents of each run has a label (labelled@k)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="the project's short name")
        parser.add_argument(
            "--k",
            type=int,
            action="append",
            dest="cutoffs",
            help="a cutoff; may be repeated (default: 10, 20 and 100)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        project = get_project(options["project"])
        labelled = labelled_at(project, options["cutoffs"] or CUTOFFS)
        for number, label in enumerate(labelled):
            if not number:
                self.stdout.write(
                    "\t".join(["run", "topics", *(f"labelled@{k}" for k in label.labelled)])
                )
            shares = ("undefined" if v is None else f"{v:.4f}" for v in label.labelled.values())
            self.stdout.write("\t".join([label.run, str(label.topics), *shares]))
