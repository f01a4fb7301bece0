"""What several tests of the installation need."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.services.once import make_once
from tests.services.wheel import build_documentation, build_wheel


@pytest.fixture(scope="session")
def documentation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documentation's pages, made as `bin/docs` makes them."""
    return make_once(tmp_path_factory, "documentation", build_documentation)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory, documentation: Path) -> Path:
    """The wheel, made as `bin/build` makes it."""
    make = partial(build_wheel, documentation=documentation)
    return next(make_once(tmp_path_factory, "checkout", make).glob("dist/*.whl"))
