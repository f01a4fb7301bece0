"""The exceptions of actions, which other apps import as `base.errors.Refused`, and of jobs."""

from __future__ import annotations


class Refused(Exception):
    """An action was refused and changed nothing; the message is a sentence for the person who
    asked.
    """


class JobError(Exception):
    """The work cannot be done; the message is a sentence for the person who requested it."""
