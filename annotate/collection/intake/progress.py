"""Who is told how far a load is."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Who is told how far it is. May raise to stop the work; then nothing is loaded."""

    def start(self, total: int | None, step: str) -> None:
        """Begin a step of `total` units (None: not known), named in words."""

    def advance(self, n: int = 1) -> None:
        """Count `n` units as done."""


class Quiet:
    """Nobody is told."""

    def start(self, total: int | None, step: str) -> None:
        """Begin a step."""

    def advance(self, n: int = 1) -> None:
        """Go on."""
