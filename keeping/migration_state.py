"""The migrations that a database has, and those that a backup was made with."""

from __future__ import annotations

from collections.abc import Mapping

from django.conf import settings
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from base.errors import Refused


def latest_migrations() -> dict[str, str]:
    """Return the last migration in this version of each app that has tables."""
    leaves = MigrationLoader(None).graph.leaf_nodes()
    return {str(app): str(name) for app, name in sorted(leaves)}


def is_new_database() -> bool:
    """Return whether no migration was ever applied to this database."""
    return not MigrationRecorder(connection).applied_migrations()


def refuse_unless_up_to_date() -> None:
    """Raise Refused if a migration is not applied yet."""
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        raise Refused(f"The database is not up to date. Run {settings.COMMAND} prepare first.")


def refuse_other_tables(migrations: Mapping[str, str], version: str) -> None:
    """Raise Refused for a backup that was made with other migrations than this version has."""
    if migrations != latest_migrations():
        raise Refused(
            f"This backup was made by Rejudge {version}, whose tables differ from those of this "
            "version. Restore it with that version."
        )
