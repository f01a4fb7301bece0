"""A real PgBouncer in front of a test's PostgreSQL: the one on PATH.

`python -m tests.services.pgbouncer` installs the distribution's if there is none and it can.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg

from tests.services.postgres import unprivileged
from tests.services.processes import running, short_folder, wait_until

# Debian's is in a folder that only root has on PATH.
_FOLDERS = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin"])


def program() -> str | None:
    """Return the path of PgBouncer, or None if it is not installed."""
    return shutil.which("pgbouncer", path=_FOLDERS)


@contextlib.contextmanager
def pgbouncer(server: str, mode: str = "session") -> Iterator[str]:
    """Start PgBouncer in front of the server on a socket in the folder `server`.

    Yields the address of its databases, to which "/NAME" is added.
    """
    path = program()
    if path is None:
        raise RuntimeError("PgBouncer is not installed.")
    with short_folder("pool") as folder:
        (folder / "pgbouncer.ini").write_text(
            f"""
            [databases]
            * = host={server} user=rejudge
            [pgbouncer]
            pool_mode = {mode}
            # The variables that Rejudge sets when it connects.
            ignore_startup_parameters = options
            listen_addr =
            listen_port = 5432
            unix_socket_dir = {folder}
            auth_type = any
            """
        )
        as_user = unprivileged(folder)
        log = folder / "log"
        command = [*as_user, path, str(folder / "pgbouncer.ini")]
        with running(command, log=log) as process:
            wait_until(lambda: _answers(folder), "PgBouncer", process=process, log=log)
            yield f"postgres://rejudge@/{folder}"


def _answers(folder: Path) -> bool:
    """Return whether it lets us in to its own console."""
    try:
        psycopg.connect(host=str(folder), user="rejudge", dbname="postgres").close()
    except psycopg.OperationalError:
        return False
    return True


def ensure() -> None:
    """Install the distribution's PgBouncer if there is none, which needs root, apt and a network.

    If that fails, apt says why, and the tests of PgBouncer are skipped.
    """
    if program() is None and os.geteuid() == 0 and shutil.which("apt-get"):
        apt = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        update = ["apt-get", "update", "-q", "-o", "Acquire::http::Timeout=20"]
        install = ["apt-get", "install", "-q", "-y", "--no-install-recommends", "pgbouncer"]
        for command in (update, install):
            subprocess.run(command, check=False, env=apt, stdout=subprocess.DEVNULL)
    print(f"pgbouncer: {program() or 'none here, so its tests are skipped'}", flush=True)


if __name__ == "__main__":
    ensure()
