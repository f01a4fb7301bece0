"""Acknowledged writes are on the disk, with the embedded database too."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from django.conf import settings

pytestmark = pytest.mark.sqlite

# SQLite's numbers: 2 is FULL, which waits for the disk at each commit.
PRAGMAS = """
import django
django.setup()
from django.db import connection
for name in ("journal_mode", "synchronous"):
    print(connection.cursor().execute(f"PRAGMA {name}").fetchone()[0])
"""


@pytest.mark.parametrize("web", ["", "1"], ids=["worker", "web"])
def test_a_commit_waits_until_it_is_on_the_disk(tmp_path, web):
    done = subprocess.run(
        [sys.executable, "-c", PRAGMAS],
        cwd=settings.BASE_DIR,
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "REJUDGE_DATA": str(tmp_path),
            "REJUDGE_WEB_PROCESS": web,
            "DATABASE_URL": "",
        },
        capture_output=True,
        text=True,
    )

    assert done.stdout.split() == ["wal", "2"], done.stderr
