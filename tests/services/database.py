"""The test database: migrated once, then copied for each process and each run.

Migrations take seconds; a copy takes milliseconds. The migrated database is in pytest's cache
folder (SQLite) or on the server (PostgreSQL), under a name derived from everything it depends on.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.db import connection, transaction

from base.constraints import deletions_allowed

FILLED_BY_MIGRATE = {"django_migrations", "django_content_type", "auth_permission"}


@contextlib.contextmanager
def test_database(cache: Path) -> Iterator[None]:
    """Give this process its own migrated, empty database; remove it at the end.

    `cache` is a folder that later runs use again.
    """
    before = connection.settings_dict["NAME"]
    own = connection.creation._get_test_db_name()  # type: ignore[attr-defined]
    copy = _copy_sqlite if connection.vendor == "sqlite" else _copy_postgresql
    with (cache / "lock").open("w") as lock:
        # Processes of one run start together: one migrates, the others wait for it.
        fcntl.flock(lock, fcntl.LOCK_EX)
        copy(cache, own)
    _use(own)
    yield
    connection.close()
    if connection.vendor == "sqlite":
        Path(own).unlink()
    _use(before)


@contextlib.contextmanager
def rolled_back() -> Iterator[None]:
    """Roll back everything that is done inside."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def empty_tables() -> None:
    """Delete all rows that tests wrote, also where triggers forbid it.

    Only tables with rows are touched: most tests fill a few of about eighty.
    """
    quote = connection.ops.quote_name
    filled = filled_tables()
    if connection.vendor == "postgresql":
        with transaction.atomic(), connection.cursor() as cursor:
            # This disables triggers and foreign keys.
            cursor.execute("SET LOCAL session_replication_role = replica")
            for table in filled:
                cursor.execute(f"DELETE FROM {quote(table)}")  # noqa: S608
        return
    with (
        connection.constraint_checks_disabled(),
        deletions_allowed(),
        connection.cursor() as cursor,
    ):
        for table in filled:
            cursor.execute(f"DELETE FROM {quote(table)}")  # noqa: S608


def drop_tables() -> None:
    """Drop all tables and views of an SQLite database, as if it were new."""
    with connection.constraint_checks_disabled(), connection.cursor() as cursor:
        cursor.execute("SELECT type, name FROM sqlite_master WHERE type IN ('table', 'view')")
        for kind, name in cursor.fetchall():
            if not name.startswith("sqlite_"):
                cursor.execute(f"DROP {kind} {connection.ops.quote_name(name)}")


def filled_tables() -> list[str]:
    """Return the tables with rows, except those of Django that migrations fill."""
    quote = connection.ops.quote_name
    tables = sorted(set(connection.introspection.table_names()) - FILLED_BY_MIGRATE)
    with connection.cursor() as cursor:
        cursor.execute(
            " UNION ALL ".join(
                f"SELECT '{table}' WHERE EXISTS (SELECT 1 FROM {quote(table)})"  # noqa: S608
                for table in tables
            )
        )
        return [table for (table,) in cursor.fetchall()]


def _copy_sqlite(cache: Path, own: str) -> None:
    template = cache / f"{_version()}.sqlite3"
    if not template.exists():
        for outdated in cache.glob("*.sqlite3*"):
            outdated.unlink()
        unfinished = template.with_suffix(".unfinished")
        _migrate(str(unfinished))
        unfinished.rename(template)
    shutil.copyfile(template, own)


def _copy_postgresql(cache: Path, own: str) -> None:
    template = f"template_{_version()[:16]}"
    with connection.creation._nodb_cursor() as server:  # type: ignore[attr-defined]
        server.execute("SELECT 1 FROM pg_database WHERE datname = %s", [template])
        if server.fetchone() is None:
            server.execute(f'CREATE DATABASE "{template}_unfinished"')
            _migrate(f"{template}_unfinished")
            server.execute(f'ALTER DATABASE "{template}_unfinished" RENAME TO "{template}"')
        server.execute(f'CREATE DATABASE "{own}" TEMPLATE "{template}"')


def _migrate(name: str) -> None:
    _use(name)
    call_command("migrate", verbosity=0, interactive=False, run_syncdb=True)
    call_command("createcachetable", verbosity=0)
    connection.close()


def _use(name: str) -> None:
    connection.close()
    settings.DATABASES["default"]["NAME"] = connection.settings_dict["NAME"] = name


def _version() -> str:
    """Return a digest of all our migrations and of the lock file, which fixes all others."""
    sources = [
        source
        for app in apps.get_app_configs()
        if (folder := Path(app.path)).parent in (settings.BASE_DIR, settings.BASE_DIR / "tests")
        for source in sorted(folder.glob("migrations/*.py"))
    ]
    digest = hashlib.sha256()
    for source in [*sources, settings.BASE_DIR / "requirements-dev.lock"]:
        digest.update(source.read_bytes())
    return digest.hexdigest()
