"""Exports stay the same, byte by byte, from SQLite to PostgreSQL and back, by the commands."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from tests.keeping import steps
from tests.services.postgres import postgres

pytestmark = [pytest.mark.both_databases, pytest.mark.long]


def run_in_installation(folder: Path, *ways: str, database: str = "") -> dict[str, Any]:
    """Run steps of tests/keeping/steps.py in another process with its own installation.

    Return the digests of its exports.
    """
    folder.mkdir(exist_ok=True)
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("REJUDGE_", "DATABASE_URL", "REDIS_URL", "DJANGO_"))
    }
    environment = {
        **inherited,
        "REJUDGE_DATA": str(folder),
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }
    if database:
        environment["DATABASE_URL"] = database
    done = subprocess.run(
        [sys.executable, "-m", steps.__name__, *ways],
        cwd=settings.BASE_DIR,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.skipif(
    settings.DATABASES["default"]["ENGINE"].endswith("postgresql"),
    reason="it brings both databases itself, so once is enough",
)
def test_a_backup_of_the_example_exports_the_same_bytes_on_the_other_database_and_back(tmp_path):
    there, back = tmp_path / "there.zip", tmp_path / "back.zip"

    first = run_in_installation(tmp_path / "one", "example", "export", f"backup={there}")
    with postgres() as url:
        second = run_in_installation(
            tmp_path / "two", f"restore={there}", "export", f"backup={back}", database=url
        )
    third = run_in_installation(tmp_path / "three", f"restore={back}", "export")

    assert len(first["files"]) > 20
    assert (first["engine"], second["engine"]) == ("sqlite", "postgresql")
    assert second["files"] == first["files"]
    assert third["files"] == first["files"]
    # No judgment was changed, left out or inserted.
    assert first["faults"] == second["faults"] == third["faults"] == []
    # The same holds for the release, the accounts and every row.
    assert first["release"] == second["release"] == third["release"]
    assert first["rows"] == second["rows"] == third["rows"]
