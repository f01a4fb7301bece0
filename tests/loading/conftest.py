"""Fixtures shared with the tests of the collection."""

from __future__ import annotations

from tests.collection.conftest import storage

__all__ = ["storage"]
