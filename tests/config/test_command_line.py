"""`manage.py` ends with a sentence, or quietly when the reader of its output wants no more."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.conf import settings

from tests.services.postgres import postgres

MANAGE = Path(__file__).parents[2] / "manage.py"


def test_a_command_whose_reader_has_gone_ends_without_a_traceback():
    reader, writer = os.pipe()
    os.close(reader)

    ended = subprocess.run(
        [sys.executable, MANAGE, "help"], stdout=writer, stderr=subprocess.PIPE, check=False
    )

    os.close(writer)
    assert (ended.returncode, ended.stderr) == (1, b"")


# Commands of ours, and one of Django's, with the arguments they need.
COMMANDS = [
    ("status",),
    ("prepare",),
    ("verify",),
    ("notices",),
    ("backup", "all.zip"),
    ("export", "tides", "trec", "--output", "qrels"),
    ("agreement", "tides"),
    ("lead", "tides", "carla"),
    ("load", "tides", "trec-qrels", "qrels.txt"),
    ("createsuperuser", "--username", "carla", "--email", "carla@example.org", "--noinput"),
]


def run(arguments, folder, **env):
    return subprocess.run(
        [sys.executable, MANAGE, *arguments],
        env={
            "HOME": str(folder),
            "REJUDGE_DATA": str(folder / "data"),
            "DJANGO_SUPERUSER_PASSWORD": "a long enough password",
            **env,
        },
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: arguments[0])
def test_a_command_whose_database_does_not_answer_says_so_in_a_sentence(arguments, tmp_path):
    ended = run(arguments, tmp_path, DATABASE_URL=f"postgres://rejudge@/{tmp_path}/rejudge")

    assert ended.returncode == 1
    assert ended.stderr.startswith("The database does not answer: ")
    assert ended.stderr.count("\n") == 1


@pytest.mark.parametrize("arguments", [COMMANDS[7], COMMANDS[8]], ids=["lead", "load"])
def test_a_command_whose_database_is_empty_says_what_to_run(arguments, tmp_path):
    ended = run(arguments, tmp_path)

    assert (ended.returncode, ended.stderr) == (
        1,
        "The database is new, or older than the code. Run: manage.py prepare\n",
    )


def test_a_web_server_on_a_machine_that_was_not_prepared_does_not_start(tmp_path):
    ended = run(["serve", "--only", "web"], tmp_path)

    assert ended.returncode == 1
    assert ended.stderr == (
        f"CommandError: There are no static files in {tmp_path}/data/static. Run first, on each "
        "machine with a data folder of its own: manage.py prepare\n"
    )


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_two_that_prepare_at_once_both_succeed(database, tmp_path):
    with contextlib.ExitStack() as stack:
        # On PostgreSQL each has a data folder of its own, as on two machines.
        if database == "postgresql":
            env = {"DATABASE_URL": stack.enter_context(postgres())}
            folders = [tmp_path / "one", tmp_path / "other"]
        else:
            env, folders = {}, [tmp_path, tmp_path]
        for folder in folders:
            folder.mkdir(exist_ok=True)
        with ThreadPoolExecutor() as pool:
            ended = list(pool.map(lambda folder: run(["prepare"], folder, **env), folders))

    assert [(one.returncode, one.stderr) for one in ended] == [(0, ""), (0, "")]


@pytest.mark.parametrize("arguments", [("--version",), ("version",), ("load", "--version")])
def test_the_version_is_that_of_rejudge(arguments, tmp_path):
    assert run(arguments, tmp_path).stdout == f"{settings.VERSION}\n"
