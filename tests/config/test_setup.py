"""bin/setup on a machine that lacks something; nothing is installed here."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings


@pytest.fixture
def checkout(tmp_path):
    """A checkout that has not been set up."""
    (tmp_path / "bin").mkdir()
    shutil.copy(Path(settings.BASE_DIR) / "bin" / "setup", tmp_path / "bin")
    (tmp_path / "requirements.lock").write_text("django==5.2.0\n", encoding="utf-8")
    return tmp_path


def run_setup(checkout, python, *arguments):
    return subprocess.run(
        [checkout / "bin" / "setup", *arguments],
        env={"PATH": "/usr/bin:/bin", "PYTHON": str(python)},
        capture_output=True,
        text=True,
    )


def make_fake_python(checkout, *, fails_at, version):
    """Return a fake Python that reports `version` and fails at arguments with `fails_at`."""
    path = checkout / "pretender"
    path.write_text(
        "#!/bin/sh\n"
        f'case "$*" in *"{fails_at}"*) exit 1;; *--version*) echo "Python {version}";; esac\n',
        encoding="utf-8",
    )
    path.chmod(0o755)
    return path


def test_an_old_python_is_reported_with_a_remedy(checkout):
    old = make_fake_python(checkout, fails_at="sys.version_info", version="3.10.13")

    done = run_setup(checkout, old)

    assert done.returncode == 1
    assert done.stderr.startswith(
        "setup: Rejudge needs Python 3.11 or newer; found: Python 3.10.13. Install one"
    )
    assert not (checkout / ".venv").exists()


def test_a_python_without_venv_is_reported_with_a_remedy(checkout):
    bare = make_fake_python(checkout, fails_at="import ensurepip, venv", version="3.11.2")

    done = run_setup(checkout, bare)

    assert done.returncode == 1
    assert done.stderr.startswith(
        "setup: Python 3.11.2 is installed, but without its venv module. Install it"
    )
    assert not (checkout / ".venv").exists()


def test_nothing_is_installed_again_from_the_same_lock(checkout):
    (checkout / ".venv" / "bin").mkdir(parents=True)
    (checkout / ".venv" / "bin" / "python").symlink_to(sys.executable)
    shutil.copy(checkout / "requirements.lock", checkout / ".venv/installed-requirements.lock")

    done = run_setup(checkout, sys.executable)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_an_unknown_option_is_refused(checkout):
    done = run_setup(checkout, sys.executable, "--develop")

    assert done.returncode == 1
    assert done.stderr == "setup: Unknown option '--develop'. Use --dev or --lock.\n"
