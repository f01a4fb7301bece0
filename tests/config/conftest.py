"""What several tests of the installation need."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.services.wheel import build_wheel


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, made as `bin/build` makes it."""
    return build_wheel(tmp_path_factory.mktemp("wheel"))
