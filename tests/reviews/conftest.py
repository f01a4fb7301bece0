"""Fixtures shared with the tests of other subjects."""

from __future__ import annotations

from tests.second_pass import assigned, disputed, scene_of_file

__all__ = ["assigned", "disputed", "scene_of_file"]
