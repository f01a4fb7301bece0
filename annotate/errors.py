"""The one exception by which an action says no."""

from __future__ import annotations


class Refused(Exception):
    """An action was refused and changed nothing; the message is a sentence for the person who
    asked.
    """


class Stale(Refused):
    """What the person acted on has changed in the meantime; they should look again."""


class NotHere(Refused):
    """What the person named is not there, or not for them: the two are never told apart."""
