"""`manage.py changepassword`: set another password for an account."""

from __future__ import annotations

from django.contrib.auth.management.commands import changepassword

from base.database_version import refuse_newer_database


class Command(changepassword.Command):
    """Django's command, with a help text for the list of commands."""

    help = "Set another password for an account."

    def check_migrations(self) -> None:
        """Refuse a database that is newer than the code."""
        refuse_newer_database()
