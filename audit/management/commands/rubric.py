"""`manage.py rubric PROJECT [NAME]`: print the rubric of a project, or choose another."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from annotate.management.projects import get_project
from audit.reviews import rubrics
from base.commands import RejudgeCommand
from formats.rubrics import format_rubric


class Command(RejudgeCommand):
    """Print the current rubric as JSON, or make another one current."""

    help = (
        "Print the rubric of a project as JSON, or make another rubric the current one. Without a "
        "name it prints, to start a new one from; with a name that rubric becomes current. Load a "
        "new one with the command load, format rubric-json."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("project", metavar="PROJECT", help="the project's short name")
        parser.add_argument("name", metavar="NAME", nargs="?", help="the rubric to choose")

    def handle(self, *args: Any, **options: Any) -> None:
        project = get_project(options["project"])
        if options["name"] is None:
            self.stdout.write(format_rubric(rubrics.current_rubric(project.pk)), ending="")
            return
        chosen = rubrics.choose_rubric(project=project, name=options["name"], by=None)
        self.stdout.write(f"{chosen.name} is now the rubric of {project.slug}.")
