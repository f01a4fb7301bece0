"""The wheel in an empty environment: from nothing to a released and proven pair of qrels.

The environment has the libraries that the wheel requires without extras, as links to those of the
tests, and nothing of the checkout.
"""

from __future__ import annotations

import os
import re
import subprocess
import sysconfig
import venv
import zipfile
from collections.abc import Iterator
from functools import partial
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.services.once import make_once
from tests.services.wheel import files_of, link_libraries

pytestmark = pytest.mark.long

SIDES = ("original", "changed")


def topics_of(qrels: Path) -> set[str]:
    return {line.split()[0] for line in qrels.read_text().splitlines()}


def requirements_of(wheel: Path, extra: str = "") -> Iterator[Requirement]:
    """Yield what a wheel requires with an extra or none, and what these libraries require."""
    with zipfile.ZipFile(wheel) as archive:
        lines = archive.read("rejudge-0.1.0.dist-info/METADATA").decode().splitlines()
    waiting = [line.removeprefix("Requires-Dist: ") for line in lines if "Requires-Dist:" in line]
    seen = set()
    open_requirements = [(Requirement(line), extra) for line in waiting]
    while open_requirements:
        requirement, of_extra = open_requirements.pop()
        if requirement.marker and not requirement.marker.evaluate({"extra": of_extra}):
            continue
        for its_extra in ("", *requirement.extras):
            if (key := (requirement.name.lower(), its_extra)) not in seen:
                seen.add(key)
                required = distribution(requirement.name).requires or []
                open_requirements += [(Requirement(line), its_extra) for line in required]
                yield requirement


def libraries_of(wheel: Path, extra: str = "") -> list[Distribution]:
    required = requirements_of(wheel, extra)
    names = {requirement.name.lower().replace("_", "-") for requirement in required}
    return [distribution(name) for name in sorted(names)]


@pytest.fixture(scope="module")
def libraries(wheel) -> list[Distribution]:
    """The libraries of an installation without extras."""
    return libraries_of(wheel)


def install(environment: Path, *, wheel: Path, libraries: list[Distribution]) -> None:
    """Make an environment with a wheel and libraries in it."""
    venv.create(environment, with_pip=False)
    packages = packages_of(environment)
    link_libraries(libraries, packages)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)


def packages_of(environment: Path) -> Path:
    return environment / "lib" / f"python{sysconfig.get_python_version()}" / "site-packages"


class Installation:
    """The commands of an environment in a folder outside the checkout, with its own data."""

    def __init__(self, environment: Path, folder: Path) -> None:
        self.folder = folder
        self.example = packages_of(environment) / "rejudge" / "examples/tides"
        self._python = environment / "bin" / "python"
        others = {name: value for name, value in os.environ.items() if "REJUDGE" not in name}
        self._env = {
            **others,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "REJUDGE_DATA": str(folder / "data"),
        }

    def run(self, *arguments: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
        """Run a command as the console script `rejudge` does."""
        return self._run("-c", "import rejudge; rejudge.main()", *arguments, **env)

    def run_module(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command of the package itself."""
        return self._run("-m", "rejudge", *arguments)

    def _run(self, *arguments: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self._python, *arguments],
            cwd=self.folder,
            env={**self._env, **env},
            capture_output=True,
            text=True,
        )

    def output_of(self, *arguments: str | Path) -> str:
        """Run a command that succeeds, and return what it prints."""
        done = self.run(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture
def environment(tmp_path_factory, wheel, libraries) -> Path:
    """The environment of the wheel without extras: made once, and only read."""
    make = partial(install, wheel=wheel, libraries=libraries)
    return make_once(tmp_path_factory, "environment", make)


@pytest.fixture
def installation(environment, tmp_path) -> Installation:
    """The commands without extras, with the data of this test."""
    return Installation(environment, tmp_path)


def test_a_wheel_has_one_package_and_nothing_that_only_developers_need(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()

    assert {name.split("/")[0] for name in names} == {"rejudge", "rejudge-0.1.0.dist-info"}
    inside = {name.split("/")[1] for name in names if name.startswith("rejudge/")}
    assert {"templates", "static", "examples", "help", "__init__.py"} <= inside
    assert "rejudge/help/index.html" in names
    assert not {"tests", "benchmarks", ".ci", "client"} & inside


def test_the_console_script_of_a_wheel_is_rejudge(wheel):
    with zipfile.ZipFile(wheel) as archive:
        scripts = archive.read("rejudge-0.1.0.dist-info/entry_points.txt").decode()

    assert scripts.split() == ["[console_scripts]", "rejudge", "=", "rejudge:main"]


def test_the_package_of_a_wheel_runs_commands_as_its_script_does(installation):
    module = installation.run_module("--version")
    assert (module.returncode, module.stdout) == (0, "0.1.0\n"), module.stderr
    usage = "Usage: python -m rejudge COMMAND [options]"
    assert installation.run_module("help").stdout.startswith(usage)


def test_without_extras_an_installation_has_at_most_250_mb(libraries, wheel):
    with zipfile.ZipFile(wheel) as archive:
        own = sum(entry.file_size for entry in archive.infolist())

    size = own + sum(path.stat().st_size for of in libraries for path in files_of(of))

    assert size < 250 * 1024**2
    assert not {"scipy", "pandas", "boto3", "psycopg", "redis"} & {of.name for of in libraries}


@pytest.mark.parametrize(
    ("extra", "variable", "value"),
    [
        ("postgresql", "DATABASE_URL", "postgres://rejudge@localhost/rejudge"),
        ("redis", "REDIS_URL", "redis://localhost"),
        ("s3", "REJUDGE_S3_BUCKET", "files"),
    ],
)
def test_a_setting_whose_extra_is_missing_is_refused_before_anything_is_written(
    installation, extra, variable, value
):
    refused = installation.run("prepare", **{variable: value})

    assert refused.returncode == 1
    first, sentence = refused.stderr.splitlines()
    assert first == "Rejudge does not start."
    assert sentence.startswith(f"{variable} needs ")
    assert f"run pip install 'rejudge[{extra}]'" in sentence
    assert not (installation.folder / "data").exists()


@pytest.fixture
def released(tmp_path_factory, environment) -> Path:
    """The folder in which the commands, without extras, led from nothing to an exported release.

    Made once: the tests only read it.
    """

    def make(folder: Path) -> None:
        folder.mkdir()
        installation = Installation(environment, folder)
        rejudge, example = installation.output_of, installation.example
        rejudge("prepare")
        rejudge(*("load", "tides", "trec-topics", example / "topics.trec"), "--create")
        rejudge("load", "tides", "trec-docs", example / "documents.trec")
        rejudge("load", "tides", "trec-qrels", example / "qrels.txt")
        rejudge("load", "tides", "pairs-jsonl", example / "pairs.jsonl")
        rejudge("load", "tides", "judgments-jsonl", example / "judgments.jsonl")
        rejudge("load", "tides", "trec-run", example / "follows.original.run")
        rejudge("release", "tides", "v1.0")
        rejudge("export", "tides", "trec", "--release", "v1.0", "--output", "tides-v1.0")

    return make_once(tmp_path_factory, "released", make)


def test_measuring_without_its_extra_is_refused_before_anything_is_written(environment, released):
    installation = Installation(environment, released)

    refused = installation.run("measure", "tides", "follows.original.run")

    assert refused.returncode == 1
    assert refused.stderr.startswith("CommandError: Measuring systems needs ir_measures, ")
    assert "run pip install 'rejudge[evaluation]'" in refused.stderr
    count = "from exporters.evaluations.models import Evaluation as E; print(E.objects.count())"
    assert installation.output_of("shell", "--no-imports", "--command", count) == "0\n"


def test_the_installed_commands_lead_from_nothing_to_a_released_and_proven_pair(
    released, wheel, tmp_path
):
    # The tools that prove the pair come with the extra.
    install(tmp_path / "env", wheel=wheel, libraries=libraries_of(wheel, "evaluation"))
    prove = Installation(tmp_path / "env", released).output_of("prove", "tides-v1.0")

    assert re.search("^ir_measures [0-9.]+: same", prove, re.MULTILINE)
    topics = {side: topics_of(released / f"tides-v1.0/qrels.{side}.txt") for side in SIDES}
    assert topics["original"] == topics["changed"] != set()
