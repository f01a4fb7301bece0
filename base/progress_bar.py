"""A progress bar for commands, on the terminal."""

from __future__ import annotations

import sys
import time

# The length of a full bar.
CELLS = 24


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
