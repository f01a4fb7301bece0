from __future__ import annotations

import os
import time

import pytest

from config.management.commands.prepare import tidy_scratch


@pytest.fixture
def scratch(settings, tmp_path):
    """A scratch folder with files and folders from 25 hours and from one hour ago."""
    settings.SCRATCH = tmp_path / "scratch"
    settings.SCRATCH.mkdir()
    for name, hours in (("old", 25), ("new", 1)):
        folder = settings.SCRATCH / f"export-{name}"
        folder.mkdir()
        (folder / "qrels.txt").write_bytes(b"half")
        file = settings.SCRATCH / f"{name}.upload"
        file.write_bytes(b"half")
        then = time.time() - hours * 3_600
        for path in (folder, file):
            os.utime(path, (then, then))
    return settings.SCRATCH


def test_what_was_left_for_a_day_goes_and_what_is_on_its_way_stays(scratch):
    tidy_scratch()

    assert sorted(path.name for path in scratch.iterdir()) == ["export-new", "new.upload"]


def test_a_link_is_taken_away_and_not_followed(scratch, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept.txt").write_bytes(b"kept")
    (scratch / "link").symlink_to(elsewhere)

    tidy_scratch(now=time.time() + 48 * 3_600)

    assert list(scratch.iterdir()) == []
    assert (elsewhere / "kept.txt").read_bytes() == b"kept"
