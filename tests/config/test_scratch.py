from __future__ import annotations

import os
import time

import pytest

from config.management.commands.prepare import delete_old_scratch_files


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


def test_only_files_older_than_a_day_are_deleted(scratch):
    delete_old_scratch_files()

    assert sorted(path.name for path in scratch.iterdir()) == ["export-new", "new.upload"]


def test_a_symlink_is_deleted_and_not_followed(scratch, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept.txt").write_bytes(b"kept")
    (scratch / "link").symlink_to(elsewhere)

    delete_old_scratch_files(now=time.time() + 48 * 3_600)

    assert list(scratch.iterdir()) == []
    assert (elsewhere / "kept.txt").read_bytes() == b"kept"
