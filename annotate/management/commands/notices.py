"""`manage.py notices`: mail new notices to everybody who asked for mail."""

from __future__ import annotations

from typing import Any

from annotate.overview.notices import send_digests
from base.commands import RejudgeCommand


class Command(RejudgeCommand):
    """Send the digests that are due, as a worker does every hour."""

    help = "Mail new notices to everybody who asked for mail, at most once a day."

    def handle(self, *args: Any, **options: Any) -> None:
        """Send the digests and print how many were sent."""
        sent = send_digests()
        self.stdout.write(f"{sent} {'mail' if sent == 1 else 'mails'} sent")
