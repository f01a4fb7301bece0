"""What the commands of `manage.py` share."""

from __future__ import annotations

from django.core.management.base import BaseCommand


class RejudgeCommand(BaseCommand):
    """A command that begins at once.

    Django's system checks find mistakes in the code and read every page and template for it, which
    takes longer than most commands do. `bin/check` runs them.
    """

    requires_system_checks = ()
