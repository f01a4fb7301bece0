"""What attacks share: a project with one thing of every kind, in which all have spoken."""

from __future__ import annotations

from tests.test_blindness import stage

__all__ = ["stage"]
