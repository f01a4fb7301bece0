"""Fixtures of the tests of the collection."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def storage(settings: Any, tmp_path: Path) -> Path:
    """Give the test its own file storage; return its folder."""
    folder = tmp_path / "storage"
    default = {**settings.STORAGES["default"], "OPTIONS": {"location": str(folder)}}
    settings.STORAGES = {**settings.STORAGES, "default": default}
    return folder
