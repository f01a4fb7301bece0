"""Fixtures of tests of checks."""

from __future__ import annotations

import pytest

from tests.checks.checking import claimed_scene, draw


@pytest.fixture(scope="module")
def scene_of_file(rows_of_file):
    """The rows of `claimed_scene`, made once for a file."""
    return claimed_scene()


@pytest.fixture
def sample(scene):
    """A sample of the machine's claims."""
    return draw(scene)
