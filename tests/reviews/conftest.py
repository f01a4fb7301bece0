"""Fixtures that these tests share with others."""

from __future__ import annotations

from tests.second_pass import assigned, disputed, scene

__all__ = ["assigned", "disputed", "scene"]
