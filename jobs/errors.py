"""The exception that actions raise; other apps import it as `base.errors.Refused`."""

from __future__ import annotations


class Refused(Exception):
    """An action was refused and changed nothing; the message is a sentence for the person who
    asked.
    """
