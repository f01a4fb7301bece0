"""Processes do not import large libraries that they do not use."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def modules_after(code: str, tmp_path: Path) -> set[str]:
    """Return the modules that a new process has imported after running `code`."""
    printed = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport json, sys; print(json.dumps(list(sys.modules)))"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "REJUDGE_DATA": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(printed.stdout.splitlines()[-1]))


def test_a_web_server_imports_nothing_that_only_the_measuring_of_systems_needs(tmp_path):
    held = modules_after("import config.web", tmp_path)

    assert held & {"numpy", "pandas", "ir_measures", "exporters.evaluations.measuring"} == set()
    assert "exporters.evaluations.views" in held


def test_a_worker_imports_no_interactive_shell_and_no_pages(tmp_path):
    held = modules_after("import config.worker; config.worker.app.Worker", tmp_path)

    assert held & {"celery.bin.celery", "prompt_toolkit", "config.urls"} == set()
    assert "celery.apps.worker" in held
