"""`manage.py prepare`: the steps needed once after each change of version."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import time
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.db import connection

from base.commands import RejudgeCommand
from base.database_version import refuse_newer_database, unapplied_migrations
from config.static import collect_static

# The key of PostgreSQL's advisory lock, which no other code takes.
PREPARING = 0x70726570617265
DAY_SECONDS = 24 * 60 * 60.0


class Command(RejudgeCommand):
    """Brings the database and the static files up to date, if they are not."""

    help = "Bring the database and the static files up to date."
    # It does so itself, once nobody else prepares.
    requires_migrations_checks = False

    def handle(self, *args: Any, **options: Any) -> None:
        """Run `prepare`."""
        self.prepare()

    def prepare(self) -> None:
        """Bring the database and the static files up to date; wait for others that do the same."""
        # Only this system account may read the data, whatever the folder's permissions are.
        os.umask(0o077)
        self.write(f"Data is kept in {settings.DATA}")
        with (settings.DATA / "prepare.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self._migrate()
            delete_old_scratch_files()
            if collect_static():
                self.write("Collected the static files")

    def _migrate(self) -> None:
        if connection.vendor == "postgresql":
            # Other machines do not see the lock in the data folder. Closing the connection frees
            # this one.
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_lock(%s)", [PREPARING])
        refuse_newer_database()
        if unapplied_migrations():
            self.write("Bringing the database up to date")
            call_command("migrate", interactive=False, verbosity=0)
        connection.close()

    def write(self, line: str) -> None:
        """Print one line and flush it, so that it also passes through a pipe at once."""
        self.stdout.write(line)
        self.stdout.flush()


def delete_old_scratch_files(*, now: float | None = None) -> None:
    """Delete temporary files of killed processes: those that have not changed for a day."""
    for path in Path(settings.SCRATCH).iterdir():
        with contextlib.suppress(FileNotFoundError):
            if path.lstat().st_mtime < (now or time.time()) - DAY_SECONDS:
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink()
