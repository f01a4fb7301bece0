"""What tests of the first pass share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def storage(settings: Any, tmp_path: Path) -> Path:
    """A storage of the test's own: the folder it is in."""
    folder = tmp_path / "storage"
    default = {**settings.STORAGES["default"], "OPTIONS": {"location": str(folder)}}
    settings.STORAGES = {**settings.STORAGES, "default": default}
    return folder
