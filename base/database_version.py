"""Whether the database is as new as the code, by its migrations."""

from __future__ import annotations

from functools import cache

from django.conf import settings
from django.core.management.base import CommandError
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder


def unapplied_migrations() -> list[str]:
    """Return the migrations that the database lacks, as in jobs.0001_initial."""
    return sorted(f"{app}.{name}" for app, name in migrations_in_code() - _applied_migrations())


def refuse_newer_database() -> None:
    """Raise CommandError if the database has migrations that this version of Rejudge lacks."""
    if unknown := _applied_migrations() - migrations_in_code():
        app, name = min(unknown)
        raise CommandError(
            f"The database was made by a newer version of Rejudge than {settings.VERSION}: it has "
            f"the migration {app}.{name}. Nothing was changed. Install the newer version again, or "
            "use another database: REJUDGE_DATA names its folder, DATABASE_URL its server."
        )


@cache
def migrations_in_code() -> frozenset[tuple[str, str]]:
    """Return the migrations in the code, which do not change while it runs."""
    return frozenset(MigrationLoader(None).disk_migrations or {})


def _applied_migrations() -> frozenset[tuple[str, str]]:
    return frozenset(MigrationRecorder(connection).applied_migrations())
