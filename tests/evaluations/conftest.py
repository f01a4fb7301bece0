"""Fixtures shared with the tests of exports."""

from __future__ import annotations

from tests.exports.conftest import empty_storage, write

__all__ = ["empty_storage", "write"]
