"""Fixtures that these tests share with others."""

from __future__ import annotations

from tests.second_pass import disputed, scene

__all__ = ["disputed", "scene"]
