"""The base class of all `manage.py` commands."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from base.errors import Refused
from jobs.errors import JobError


class RejudgeCommand(BaseCommand):
    """A command that skips Django's system checks, and ends with the reason of a refusal.

    The checks import every view and read every template, which takes longer than most commands.
    `bin/check` runs them.
    """

    requires_system_checks = ()

    def get_version(self) -> str:
        """Return the version of Rejudge, for `--version`."""
        return str(settings.VERSION)

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run the command; raise CommandError if something is refused, or its job fails."""
        try:
            return super().execute(*args, **options)
        except (Refused, JobError) as refused:
            raise CommandError(str(refused)) from refused
