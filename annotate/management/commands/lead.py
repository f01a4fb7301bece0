"""`manage.py lead PROJECT USER`: let an account lead a project that `load --create` made."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from annotate.management.projects import get_project
from annotate.people.members import appoint_lead
from base.commands import RejudgeCommand
from base.users import find_account


class Command(RejudgeCommand):
    """Make an account a lead of a project, above all of one that has no lead yet."""

    help = "Make an account a lead of a project. A second call changes nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("project", metavar="PROJECT", help="the project's short name")
        parser.add_argument("user", metavar="USER", help="the account's user name")

    def handle(self, *args: Any, **options: Any) -> None:
        project = get_project(options["project"])
        user = find_account(options["user"])
        if user is None:
            raise CommandError(
                f"There is no account “{options['user']}”. Make one: "
                f"{settings.COMMAND} createsuperuser."
            )
        appoint_lead(project=project, user=user)
        self.stdout.write(f"{user.username} leads {project.slug}.")
