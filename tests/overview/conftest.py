"""Fixtures that these tests share with others."""

from __future__ import annotations

from tests.collection.conftest import storage

__all__ = ["storage"]
