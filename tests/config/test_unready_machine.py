"""A machine that lacks something: one sentence that says what to do, and no traceback.

A port in use is tested in test_supervisor.py, a missing library in test_distribution.py, and
bin/setup with an old Python in test_setup.py.
"""

from __future__ import annotations

import os
import shutil
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

import manage
from config.management.commands.serve import who_is_refused
from tests.chaos.storm import in_mount_namespace
from tests.services.processes import short_folder

MANAGE = Path(manage.__file__)
UNPRIVILEGED = 10001


def run(*arguments, data, prefix=()):
    env = {"HOME": str(data.parent), "REJUDGE_DATA": str(data), "PATH": os.environ["PATH"]}
    return subprocess.run(
        [*prefix, sys.executable, MANAGE, *arguments], env=env, capture_output=True, text=True
    )


def as_nobody(folder):
    """Return the prefix that runs a command as somebody who may not write to `folder`."""
    if os.geteuid() != 0:
        folder.chmod(0o500)
        return ()
    return ("setpriv", f"--reuid={UNPRIVILEGED}", f"--regid={UNPRIVILEGED}", "--clear-groups")


@pytest.fixture
def open_folder():
    """A folder that everybody may read, and only its owner may write to."""
    with short_folder("unready") as folder:
        folder.chmod(0o755)
        yield folder


def test_an_old_python_is_named_with_the_remedy(monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 9, 18))

    with pytest.raises(SystemExit) as ended:
        manage.main()

    assert ended.value.code == (
        "Rejudge needs Python 3.11 or newer; this is Python 3.9. Install a newer one, and make "
        "the environment again with it."
    )


def test_a_data_folder_that_may_not_be_made_is_named_with_the_remedy(open_folder):
    ended = run("prepare", data=open_folder / "data", prefix=as_nobody(open_folder))

    assert ended.returncode == 1
    assert ended.stderr == (
        "Rejudge does not start.\n"
        f"This system account may not write to {open_folder}/data. Change the folder's owner or "
        "rights, or choose another folder: REJUDGE_DATA names the one for data.\n"
    )


def test_a_data_folder_that_may_not_be_written_is_named_with_the_remedy(open_folder):
    data = open_folder / "data"
    (data / "scratch").mkdir(parents=True)

    ended = run("prepare", data=data, prefix=as_nobody(data))

    assert ended.returncode == 1
    assert ended.stderr.startswith(
        f"Rejudge does not start.\nThis system account may not write to {data}. Change "
    )
    assert ended.stderr.count("\n") == 2


def test_a_data_folder_that_is_a_file_is_named_with_the_remedy(tmp_path):
    (tmp_path / "data").touch()

    ended = run("prepare", data=tmp_path / "data")

    assert ended.returncode == 1
    assert ended.stderr == (
        f"Rejudge does not start.\nThe data folder {tmp_path}/data cannot be made (File exists). "
        "Set REJUDGE_DATA to another folder.\n"
    )


def test_a_folder_for_files_that_may_not_be_written_is_named_with_the_remedy(open_folder):
    data = open_folder / "data"
    data.mkdir()
    if os.geteuid() == 0:
        os.chown(data, UNPRIVILEGED, UNPRIVILEGED)
    closed = open_folder / "closed"
    closed.mkdir()

    ended = run("example", closed / "tides", data=data, prefix=as_nobody(closed))

    assert ended.returncode == 1
    assert ended.stderr == (
        f"CommandError: This system account may not use {closed}/tides. "
        "Change its owner or rights, or name another place.\n"
    )


@pytest.mark.parametrize("command", ["prepare", "verify"])
def test_a_file_that_is_no_database_is_named_with_the_remedy(tmp_path, command):
    data = tmp_path / "data"
    data.mkdir()
    (data / "rejudge.sqlite3").write_bytes(b"damaged" * 1_000)

    ended = run(command, data=data)

    assert ended.returncode == 1
    assert ended.stderr == (
        f"The database {data}/rejudge.sqlite3 cannot be read: file is not a database. Restore a "
        "backup into another data folder: REJUDGE_DATA names it.\n"
    )


@pytest.mark.parametrize(
    ("host", "hosts", "warned"),
    [
        ("0.0.0.0", ["localhost", "127.0.0.1", "[::1]"], True),  # noqa: S104
        ("0.0.0.0", ["lab.example.org"], False),  # noqa: S104
        ("127.0.0.1", ["localhost", "127.0.0.1", "[::1]"], False),
    ],
)
def test_a_server_that_others_reach_says_if_it_answers_this_machine_only(
    host, hosts, warned, settings
):
    settings.ALLOWED_HOSTS = hosts

    lines = who_is_refused(host)

    assert ["set REJUDGE_HOSTS to the names" in line for line in lines] == [True] * warned


def on_a_full_disk(folder):
    """Return the prefix that runs a command with a disk of 300 KB at `folder`, or None."""
    prefix = in_mount_namespace(["true"])
    mounted = (*prefix[:-1], "sh", "-c", 'mount -t tmpfs -o size=300k tmpfs "$0" && exec "$@"')
    tried = subprocess.run([*mounted, str(folder), "true"], capture_output=True)
    return None if tried.returncode or prefix == ["true"] else (*mounted, str(folder))


def test_a_full_disk_is_named_with_the_remedy(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    prefix = on_a_full_disk(data)
    assert prefix is not None, "this test needs a mount namespace"

    ended = run("prepare", data=data, prefix=prefix)

    assert ended.returncode == 1
    assert ended.stderr == (
        "The disk is full. Nothing that was saved is lost: free space for "
        f"{data}, or set REJUDGE_DATA to a folder on another disk, then run this again.\n"
    )


@pytest.mark.long
def test_a_database_of_a_newer_version_is_left_as_it_is_with_the_remedy(tmp_path):
    data = tmp_path / "data"
    assert run("prepare", data=data).returncode == 0
    database = data / "rejudge.sqlite3"
    with sqlite3.connect(database) as connection:
        connection.execute(
            "INSERT INTO django_migrations (app, name, applied) "
            "VALUES ('annotate', '0002_from_the_future', '2030-01-01')"
        )
    connection.close()
    before = shutil.copy(database, tmp_path / "before").read_bytes()

    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    ended = run("serve", "--port", str(port), data=data)

    assert ended.returncode == 1
    assert ended.stderr.startswith(
        "CommandError: The database was made by a newer version of Rejudge than 0.1.0: it has the "
        "migration annotate.0002_from_the_future. Nothing was changed. Install the newer version "
    )
    assert ended.stderr.count("\n") == 1
    assert database.read_bytes() == before
