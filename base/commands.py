"""The base class of all `manage.py` commands."""

from __future__ import annotations

from django.core.management.base import BaseCommand


class RejudgeCommand(BaseCommand):
    """A command that skips Django's system checks.

    The checks import every view and read every template, which takes longer than most commands.
    `bin/check` runs them.
    """

    requires_system_checks = ()
