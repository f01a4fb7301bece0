"""Fixtures that these tests share with others."""

from __future__ import annotations

from tests.second_pass import disputed, scene, seated

__all__ = ["disputed", "scene", "seated"]
