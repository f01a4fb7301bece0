"""`bin/release --dry-run` makes everything that a release has, and publishes nothing."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from django.conf import settings

ROOT = Path(settings.BASE_DIR)


def load_release():
    """Return bin/release.py as a module."""
    spec = importlib.util.spec_from_file_location("bin_release", ROOT / "bin" / "release.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


release = load_release()
CHANGELOG = (
    "# Changelog\n\n## Unreleased\n\n- Soon.\n\n## 0.1.0 (2026-12-01)\n\n### Added\n\n- All.\n"
)


def test_the_changes_of_a_version_end_before_the_next_one():
    changes = release.find_changes(CHANGELOG, "0.1.0", dry_run=False)

    assert changes == "# Rejudge 0.1.0\n\n### Added\n\n- All.\n"


def test_a_dry_run_takes_what_is_unreleased():
    changes = release.find_changes(CHANGELOG, "0.2.0", dry_run=True)

    assert changes == "# Rejudge 0.2.0\n\n- Soon.\n"


@pytest.mark.parametrize("changelog", [CHANGELOG, "## 0.2.0\n\n## 0.1.0\n\n- All.\n"])
def test_a_version_without_changes_is_refused(changelog):
    with pytest.raises(SystemExit, match=r"CHANGELOG.md has no section “## 0.2.0” with changes"):
        release.find_changes(changelog, "0.2.0", dry_run=False)


@pytest.mark.long
def test_a_dry_run_makes_everything_that_a_release_has(tmp_path):
    checkout = tmp_path / "checkout"
    left_out = shutil.ignore_patterns(".git", ".venv", ".*_cache", "tests", "help", "dist")
    shutil.copytree(ROOT, checkout, ignore=left_out)
    environment = checkout / ".venv"
    environment.mkdir()
    for name in ("bin", "lib", "pyvenv.cfg"):
        (environment / name).symlink_to((ROOT / ".venv" / name).resolve())
    # The environment of the tests is complete, so bin/setup has nothing to install.
    shutil.copy(ROOT / "requirements-dev.lock", environment / "installed-requirements-dev.lock")

    made = subprocess.run(
        [checkout / "bin" / "release", "--dry-run"], capture_output=True, text=True
    )

    assert made.returncode == 0, made.stderr
    assert made.stdout.startswith("Rejudge 0.1.0 (dry run), in ")
    assert "Nothing was published." in made.stdout
    dist = checkout / "dist"
    distributions = {
        "rejudge-0.1.0-py3-none-any.whl",
        "rejudge-0.1.0.tar.gz",
        "rejudge_client-0.1.0-py3-none-any.whl",
        "rejudge_client-0.1.0.tar.gz",
    }
    others = {"rejudge-0.1.0.cdx.json", "changes-0.1.0.md", "image-0.1.0.json"}
    assert {path.name for path in dist.iterdir()} - {".gitignore"} == {
        *distributions,
        *others,
        "SHA256SUMS",
    }
    sums = dict(reversed(line.split()) for line in (dist / "SHA256SUMS").read_text().splitlines())
    assert sums == {
        name: hashlib.sha256((dist / name).read_bytes()).hexdigest()
        for name in distributions | others
    }


@pytest.mark.long
def test_the_bill_of_materials_names_every_locked_library_with_its_hashes(tmp_path, monkeypatch):
    monkeypatch.setattr(release, "DIST", tmp_path)

    release.write_bill_of_materials("0.1.0")

    bill = json.loads((tmp_path / "rejudge-0.1.0.cdx.json").read_text("utf-8"))
    lock = (ROOT / "requirements.lock").read_text("utf-8")
    locked = {line.split("==")[0] for line in lock.splitlines() if "==" in line}
    assert bill["bomFormat"] == "CycloneDX"
    assert bill["metadata"]["component"]["name"] == "rejudge"
    assert {component["name"] for component in bill["components"]} == locked
    assert all(component["externalReferences"][0]["hashes"] for component in bill["components"])


def test_the_image_is_described_by_its_dockerfile():
    image = release.describe_image((ROOT / "Dockerfile").read_text("utf-8"), "0.1.0")

    assert image["labels"]["org.opencontainers.image.version"] == "0.1.0"
    assert image["labels"]["org.opencontainers.image.base.name"].startswith("python:3.11.")
    assert (image["user"], image["ports"], image["volumes"]) == ("10001", ["8000"], ["/data"])
    assert image["command"] == ["rejudge", "serve", "--host", "0.0.0.0"]  # noqa: S104
