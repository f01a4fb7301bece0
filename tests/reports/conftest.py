"""Fixtures that these tests share with others."""

from __future__ import annotations

from tests.second_pass import disputed, scene_of_file

__all__ = ["disputed", "scene_of_file"]
