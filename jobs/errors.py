"""The one exception by which an action says no; the rooms know it as `base.errors.Refused`."""

from __future__ import annotations


class Refused(Exception):
    """An action was refused and changed nothing; the message is a sentence for the person who
    asked.
    """
