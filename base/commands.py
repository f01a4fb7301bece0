"""The base class of all `manage.py` commands, and a progress bar for them."""

from __future__ import annotations

import sys
import time
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from base.errors import Refused
from jobs.errors import JobError

# The length of a full bar.
CELLS = 24


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


class Bar:
    """A progress line on the terminal, shown once the work takes longer than a second."""

    def __init__(self, about: str) -> None:
        self._stream = sys.stderr
        self._about = about
        self._shown = self._stream.isatty()
        self._next = time.monotonic() + 1
        self._width = 0
        self._step = ""
        self._total: int | None = None
        self._done = 0

    def start(self, total: int | None, step: str) -> None:
        """Begin a step of `total` units (None: not known), named in words."""
        self._step, self._total, self._done = step, total, 0
        self._show()

    def advance(self, n: int = 1) -> None:
        """Count `n` units as done."""
        self._done += n
        self._show()

    def clear(self) -> None:
        """Erase the line."""
        if self._width:
            self._stream.write("\r" + " " * self._width + "\r")
            self._stream.flush()

    def _show(self) -> None:
        now = time.monotonic()
        if not self._shown or now < self._next:
            return
        self._next = now + 0.2
        line = f"{self._about}: {self._step}"
        if self._total:
            share = min(self._done / self._total, 1)
            line += f" [{'#' * int(share * CELLS):.<{CELLS}}] {share:.0%}"
        elif self._done:
            line += f" {self._done:,}"
        self._stream.write("\r" + line.ljust(self._width))
        self._stream.flush()
        self._width = len(line)
