"""Limits on the size of input that every format shares."""

from __future__ import annotations

MAX_LINE = 16 * 1024 * 1024
MAX_WHOLE = 256 * 1024 * 1024
MAX_PROBLEMS = 1_000
MAX_BLANK = 100_000
"""Allowed blank lines of a file, besides ten for each line that is not blank."""
