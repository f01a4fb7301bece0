"""docker-compose.yml and the Dockerfile: what they promise, and their commands on real servers.

No container is started here; the commands run as the containers would run them, on a PostgreSQL and
a Redis of the test's own.
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from ruamel.yaml import YAML

from tests.services.postgres import postgres
from tests.services.processes import running, wait_until

ROOT = Path(settings.BASE_DIR)
COMPOSE = YAML(typ="safe", pure=True).load((ROOT / "docker-compose.yml").read_text("utf-8"))
SERVICES = COMPOSE["services"]
OURS = ["prepare", "web", "worker", "beat"]


def test_the_compose_file_follows_the_specification():
    checked = subprocess.run(
        [
            *(sys.executable, "-m", "check_jsonschema"),
            *("--builtin-schema", "vendor.compose-spec", ROOT / "docker-compose.yml"),
        ],
        capture_output=True,
        text=True,
    )

    assert checked.returncode == 0, checked.stdout


def test_the_dockerfile_follows_good_habits():
    linted = subprocess.run(
        [Path(sys.executable).parent / "hadolint", ROOT / "Dockerfile"],
        capture_output=True,
        text=True,
    )

    assert linted.returncode == 0, linted.stdout


@pytest.mark.parametrize("name", ["postgres", "redis"])
def test_images_from_elsewhere_are_pinned(name):
    assert re.fullmatch(r"[a-z]+:\d+\.\d+(\.\d+)?-[a-z]+", SERVICES[name]["image"])


def test_the_base_image_is_pinned():
    bases = re.findall(r"^FROM (\S+)", (ROOT / "Dockerfile").read_text("utf-8"), re.MULTILINE)

    assert len(set(bases)) == 1
    assert re.fullmatch(r"python:3\.\d+\.\d+-slim-[a-z]+", bases[0])


def test_nothing_runs_as_root():
    users = re.findall(r"^USER (\S+)", (ROOT / "Dockerfile").read_text("utf-8"), re.MULTILINE)

    assert users == ["10001"]
    assert {name: SERVICES[name].get("user") for name in SERVICES} == {
        "postgres": "postgres",
        "redis": "redis",
        **dict.fromkeys(OURS),
    }


def test_whatever_stays_is_asked_about_its_health():
    staying = {name for name, service in SERVICES.items() if service["restart"] != "no"}

    assert staying == {"postgres", "redis", "web", "worker", "beat"}
    assert {name for name in SERVICES if "healthcheck" in SERVICES[name]} == staying


def test_everything_that_the_image_needs_is_in_it():
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    taken = {line[1:] for line in ignored if line.startswith("!")}
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}

    assert packages - {"tests", "benchmarks"} <= taken
    assert {"manage.py", "requirements.lock", "static", "templates", "example"} <= taken
    assert all((ROOT / name).exists() for name in taken)


@pytest.fixture
def installation(tmp_path, redis_url):
    """The environment that the containers share, with a real PostgreSQL and a real Redis in it."""
    with postgres() as url:
        given = {name: value for name, value in os.environ.items() if "REJUDGE_" not in name}
        yield given | {
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "REJUDGE_DATA": str(tmp_path / "data"),
            "DATABASE_URL": url,
            "REDIS_URL": redis_url,
        }


def command(name, *more):
    program, *arguments = SERVICES[name]["command"]
    assert program == "python"
    return [sys.executable, *arguments, *more]


def health(name, installation, *more):
    check, program, *arguments = SERVICES[name]["healthcheck"]["test"]
    assert (check, program) == ("CMD", "python")
    return subprocess.run(
        [sys.executable, *arguments, *more],
        cwd=ROOT,
        env=installation,
        capture_output=True,
        text=True,
    )


def test_the_containers_commands_make_a_whole_that_is_well(installation, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
    prepared = subprocess.run(
        command("prepare"), cwd=ROOT, env=installation, capture_output=True, text=True
    )
    assert prepared.returncode == 0, prepared.stderr
    before = health("web", installation, "--port", port), health("worker", installation)

    with contextlib.ExitStack() as stack:
        for name, more in {"web": ["--port", port], "worker": [], "beat": []}.items():
            argv = command(name, *more)
            log = tmp_path / name
            stack.enter_context(running(argv, log=log, env=installation, cwd=ROOT))
        wait_until(
            lambda: health("web", installation, "--port", port).returncode == 0,
            "a healthy web server",
            seconds=60,
            log=tmp_path / "web",
        )
        wait_until(
            lambda: health("worker", installation).returncode == 0,
            "a healthy worker",
            seconds=60,
            log=tmp_path / "worker",
        )

    assert [check.returncode for check in before] == [1, 1]
    assert before[0].stderr.startswith("CommandError: The web server does not answer at port")
    assert before[1].stderr == "CommandError: No worker takes work.\n"
