"""Fixtures that these tests share with others."""

from __future__ import annotations

from tests.second_pass import scene

__all__ = ["scene"]
