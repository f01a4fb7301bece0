"""Fixtures shared with the tests of other subjects."""

from __future__ import annotations

from tests.second_pass import scene

__all__ = ["scene"]
