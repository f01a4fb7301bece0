"""`manage.py changepassword`: set another password for an account."""

from __future__ import annotations

from django.contrib.auth.management.commands import changepassword


class Command(changepassword.Command):
    """Django's command, with a help text for the list of commands."""

    help = "Set another password for an account."
