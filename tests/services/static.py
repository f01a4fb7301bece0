"""Addresses of static files in tests: without collectstatic, and each worked out once.

A page names some fifty of them; on a page that says "not found" they take half of the time.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from django.contrib.staticfiles.storage import StaticFilesStorage


class RememberedAddresses(StaticFilesStorage):
    """Static files where they lie, whose addresses are worked out once."""

    @cached_property
    def _addresses(self) -> dict[str, str]:
        return {}

    def url(self, name: str | None) -> Any:
        """The address of a file."""
        key = name or ""
        if key not in self._addresses:
            self._addresses[key] = super().url(name)
        return self._addresses[key]
