"""`manage.py purge PROJECT`: delete an archived project for good."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from base.commands import RejudgeCommand
from keeping.purge import ProjectContents, purge, read_contents


class Command(RejudgeCommand):
    """Deletes an archived project and everything in it, once its short name was typed."""

    help = (
        "Delete an archived project for good, with all its judgments and files. You have to type "
        "its short name. Accounts stay."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the arguments for the project."""
        parser.add_argument("project", metavar="PROJECT", help="the project's short name")
        parser.add_argument(
            "--typed", metavar="NAME", help="the short name again, instead of being asked for it"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Show what the project contains, ask, and delete it."""
        slug = options["project"]
        try:
            self.stdout.write(_describe(read_contents(slug), slug))
            typed = options["typed"]
            if typed is None:
                typed = input(f"Type {slug} to delete it: ").strip()
            counts = purge(slug=slug, typed=typed)
        except (EOFError, KeyboardInterrupt) as stopped:
            raise CommandError("Nothing was deleted.", returncode=130) from stopped
        self.stdout.write(f"“{slug}” was deleted: {counts.rows:,} rows and {counts.files:,} files.")


def _describe(contents: ProjectContents, slug: str) -> str:
    return (
        f"“{slug}” ({contents.name}) has {contents.judgments:,} judgments, {contents.people:,} "
        f"people and {contents.files:,} files. Only a backup can bring it back: "
        f"{settings.COMMAND} backup FILE --project {slug}"
    )
