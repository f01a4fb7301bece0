"""The base class of all `manage.py` commands, and a progress bar for them."""

from __future__ import annotations

import errno
import sys
import time
from argparse import ArgumentTypeError
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from base.database_version import refuse_newer_database
from base.errors import Refused
from jobs.errors import JobError, is_full

# The length of a full bar.
CELLS = 24
_NOT_ALLOWED = (
    "This system account may not use {path}. Change its owner or rights, or name another place."
)
# What to do about a file or folder that a command cannot read or write, by the system's code.
_REMEDIES = {
    errno.ENOENT: "There is no {path}, or no folder for it. Check the path, or make the folder.",
    errno.EISDIR: "{path} is a folder. Name a file in it.",
    errno.ENOTDIR: "{path} is in no folder: a part of the path is a file. Check the path.",
    errno.EEXIST: "{path} already exists. Name a new file.",
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), _NOT_ALLOWED),
}


class RejudgeCommand(BaseCommand):
    """A command that skips Django's system checks, and ends with the reason of a refusal.

    The checks import every view and read every template, which takes longer than most commands.
    `bin/check` runs them.
    """

    requires_system_checks = ()
    # False for a command that does not need the database.
    requires_migrations_checks = True

    def get_version(self) -> str:
        """Return the version of Rejudge, for `--version`."""
        return str(settings.VERSION)

    def check_migrations(self) -> None:
        """Refuse a database that is newer than the code; its tables may be others."""
        refuse_newer_database()

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run the command; raise CommandError if something is refused, or its job fails.

        Also if it cannot read or write a file outside of the data folder (`manage.py` explains
        that one, and a full disk).
        """
        try:
            return super().execute(*args, **options)
        except (Refused, JobError) as refused:
            raise CommandError(str(refused)) from refused
        except OSError as error:
            path = Path(error.filename or settings.DATA)
            if path.is_relative_to(settings.DATA) or is_full(error):
                raise
            remedy = _REMEDIES.get(error.errno or 0, f"{{path}}: {error.strerror}.")
            raise CommandError(remedy.format(path=path)) from error


def number_within(least: int, most: int) -> Callable[[str], int]:
    """Return the type of an option that is a whole number within these bounds."""

    def parse(text: str) -> int:
        number = int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else least - 1
        if not least <= number <= most:
            raise ArgumentTypeError(f"“{text}” is no whole number from {least:,} to {most:,}")
        return number

    return parse


PORT = number_within(1, 65_535)


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
