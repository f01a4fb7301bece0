"""Receivers of a load's progress."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Receives the progress of a load. May raise to stop the work; then nothing is loaded."""

    def start(self, total: int | None, step: str) -> None:
        """Begin a step of `total` units (None: not known), named in words."""

    def advance(self, n: int = 1) -> None:
        """Count `n` units as done."""


class NoProgress:
    """Ignores the progress."""

    def start(self, total: int | None, step: str) -> None:
        """Do nothing."""

    def advance(self, n: int = 1) -> None:
        """Do nothing."""
