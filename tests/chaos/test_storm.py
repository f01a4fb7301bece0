"""Nothing acknowledged is lost or half done, whatever is killed, stopped, filled or set wrong.

It runs a whole installation in its own processes (see tests/chaos/storm.py for the faults).
`python -m benchmarks.chaos` runs the same for longer.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from django.conf import settings

pytestmark = pytest.mark.long

# Faults that must have happened at least once, or the test proves nothing.
TO_BOTH = {
    "web server killed",
    "worker server killed",
    "all killed at once",
    "disk full",
    "clock jumped",
}
SERVICES = {
    *("Redis kill", "Redis stop", "Redis hang", "Postgres kill", "Postgres stop", "Postgres hang"),
    "beat server killed",
}


@pytest.mark.parametrize(
    ("database", "faults"),
    [("sqlite", TO_BOTH), ("postgresql", TO_BOTH | SERVICES | {"worker process killed"})],
)
def test_nothing_is_lost_or_half_done_in_a_storm(database, faults, record_property):
    done = subprocess.run(
        [sys.executable, "-m", "tests.chaos.storm", database, "--seed", "1"],
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        timeout=600,
    )

    assert done.stdout, done.stderr[-20_000:]
    found = json.loads(done.stdout)
    survived = sum(found["survived"].values())
    record_property(
        "tried",
        f"storm, {database}: {survived} faults survived, {found['acknowledged']:,} judgments "
        f"acknowledged, {found['found']:,} found",
    )
    assert not found["complaints"], "\n".join([*found["complaints"], done.stderr[-5_000:]])
    assert done.returncode == 0
    assert faults <= found["survived"].keys()
    assert found["acknowledged"] == found["found"] > 100
    assert found["never_answered"] == 0
    # Every job error here must be one that the code expects, such as a full disk.
    assert not [words for words in found["failed"] if "not foreseen" in words]
    # At least the two after the storm.
    assert found["exports_taken_away"] >= 2
