"""Fixtures that these tests share."""

from __future__ import annotations

import pytest

from tests.second_pass import disputed, scene_of_file

__all__ = ["disputed", "scene_of_file"]


@pytest.fixture
def led(scene, client):
    """The scene, seen by carla."""
    client.force_login(scene.carla.user)
    return scene
