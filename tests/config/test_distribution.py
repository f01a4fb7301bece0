"""The wheel in an empty environment: from nothing to a released and proven pair of qrels.

The environment sees the installed dependencies of the tests, and nothing of the checkout.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest
from django.conf import settings

pytestmark = pytest.mark.long

ROOT = Path(settings.BASE_DIR)


SIDES = ("original", "changed")


def topics_of(qrels: Path) -> set[str]:
    return {line.split()[0] for line in qrels.read_text().splitlines()}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
    subprocess.run([*build, "--directory", str(folder)], cwd=ROOT, check=True, capture_output=True)
    return next(Path(folder).glob("*.whl"))


class Installation:
    """The wheel in an environment of its own, in a folder outside the checkout."""

    def __init__(self, wheel: Path, folder: Path) -> None:
        self.folder, environment = folder, folder / "env"
        venv.create(environment, with_pip=False)
        version = sysconfig.get_python_version()
        packages = environment / "lib" / f"python{version}" / "site-packages"
        (packages / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"])
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(packages)
        self.example = packages / "rejudge" / "example"
        self._python = environment / "bin" / "python"
        others = {name: value for name, value in os.environ.items() if "REJUDGE" not in name}
        self._env = {
            **others,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "REJUDGE_DATA": str(folder / "data"),
        }

    def run(self, *arguments: str | Path) -> str:
        """Run a command as the console script `rejudge` does, and return what it prints."""
        done = subprocess.run(
            [self._python, "-c", "import rejudge; rejudge.main()", *arguments],
            cwd=self.folder,
            env=self._env,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


def test_a_wheel_has_one_package_and_nothing_that_only_developers_need(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()

    assert {name.split("/")[0] for name in names} == {"rejudge", "rejudge-0.1.0.dist-info"}
    inside = {name.split("/")[1] for name in names if name.startswith("rejudge/")}
    assert {"templates", "static", "docs", "example", "examples", "manage.py"} <= inside
    assert not {"tests", "benchmarks", ".ci", "client"} & inside


def test_the_console_script_of_a_wheel_is_rejudge(wheel):
    with zipfile.ZipFile(wheel) as archive:
        scripts = archive.read("rejudge-0.1.0.dist-info/entry_points.txt").decode()

    assert scripts.split() == ["[console_scripts]", "rejudge", "=", "rejudge:main"]


def test_the_installed_commands_lead_from_nothing_to_a_released_and_proven_pair(wheel, tmp_path):
    installation = Installation(wheel, tmp_path)
    rejudge, example = installation.run, installation.example
    rejudge("prepare")
    rejudge(*("load", "tides", "trec-topics", example / "topics.trec"), "--create")
    rejudge("load", "tides", "trec-docs", example / "documents.trec")
    rejudge("load", "tides", "trec-qrels", example / "qrels.txt")
    rejudge("load", "tides", "pairs-jsonl", example / "pairs.jsonl")
    rejudge("load", "tides", "judgments-jsonl", example / "judgments.jsonl")
    rejudge("release", "tides", "v1.0")
    rejudge("export", "tides", "trec", "--release", "v1.0", "--output", "tides-v1.0")

    assert rejudge("prove", "tides-v1.0")
    topics = {side: topics_of(tmp_path / f"tides-v1.0/qrels.{side}.txt") for side in SIDES}
    assert topics["original"] == topics["changed"] != set()
