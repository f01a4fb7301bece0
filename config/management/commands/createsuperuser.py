"""`manage.py createsuperuser`: make the first account."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.management.commands import createsuperuser
from django.core.management.base import CommandError

from base.database_version import refuse_newer_database, unapplied_migrations


class Command(createsuperuser.Command):
    """Django's command, whose messages name the commands of this installation."""

    help = "Make an account that may do everything, the first of an installation."

    def check_migrations(self) -> None:
        """Refuse a database that is older or newer than the code."""
        refuse_newer_database()
        if unapplied_migrations():
            raise CommandError(
                f"The database is new, or older than the code. Run: {settings.COMMAND} prepare"
            )

    def handle(self, *args: Any, **options: Any) -> None:
        """Make the account; ask in the terminal for what is missing."""
        if options["interactive"] and not self.stdin.isatty():
            raise CommandError(
                "This is no terminal, so it cannot ask for a password. Run it in a terminal, or "
                "with --noinput, --username, --email and the variable DJANGO_SUPERUSER_PASSWORD."
            )
        try:
            super().handle(*args, **options)
        except EOFError as end:
            raise CommandError("Stopped. No account was made.") from end
