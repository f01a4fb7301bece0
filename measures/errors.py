"""The error of calls and data that cannot be measured."""

from __future__ import annotations


class CannotMeasure(ValueError):
    """A wrong call, or data that cannot be measured; the message is a sentence for people."""
