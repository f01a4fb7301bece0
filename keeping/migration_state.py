"""The migrations of a database, and migrating an empty one to those of an earlier version."""

from __future__ import annotations

from collections.abc import Mapping

from django.apps.registry import Apps
from django.core.management import call_command
from django.db import connection
from django.db.migrations.exceptions import IrreversibleError
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from base.errors import Refused


class StepwiseLoader(MigrationLoader):
    """Loads the single migrations instead of squashed ones, because backups name single ones.

    So a new migration must depend on the last replaced migration, never on the squashed one.
    """

    def load_disk(self) -> None:
        """Leave out each squashed migration whose replaced migrations are all on disk."""
        super().load_disk()
        migrations_on_disk = self.disk_migrations or {}
        self.disk_migrations = {
            key: migration
            for key, migration in migrations_on_disk.items()
            if not migration.replaces or not migrations_on_disk.keys() >= set(migration.replaces)
        }


def latest_migrations() -> dict[str, str]:
    """Return the last migration in this version of each app that has tables."""
    leaves = StepwiseLoader(None).graph.leaf_nodes()
    return {str(app): str(name) for app, name in sorted(leaves)}


def is_new_database() -> bool:
    """Return whether no migration was ever applied to this database."""
    return not MigrationRecorder(connection).applied_migrations()


def refuse_unless_up_to_date() -> None:
    """Raise Refused if a migration is not applied yet."""
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        raise Refused("The database is not up to date. Run manage.py migrate first.")


def refuse_unknown(migrations: Mapping[str, str], version: str) -> None:
    """Raise Refused for migrations that this version does not have: they are of a later one.

    Also refused: migrations without others that they depend on, which no version wrote.
    """
    graph = StepwiseLoader(None).graph
    unknown = [
        f"{app}.{name}" for app, name in migrations.items() if (app, name) not in graph.nodes
    ]
    if unknown:
        raise Refused(
            f"This backup was made by Rejudge {version}, which has tables that this version does "
            f"not know ({', '.join(unknown)}). Update Rejudge first."
        )
    plans = {app: set(graph.forwards_plan((app, name))) for app, name in migrations.items()}
    needed = set().union(*plans.values())
    if "annotate" not in plans or any(one not in plans.get(one[0], ()) for one in needed):
        raise Refused("This backup is not valid: its migrations do not fit together.")


def migrate_back_to(migrations: Mapping[str, str]) -> Apps:
    """Migrate a database without rows to the tables of an earlier version; return its models.

    The database is new or up to date. Refused if a migration cannot be reversed: then the database
    must have no tables at all.
    """
    executor = MigrationExecutor(connection)
    executor.loader = StepwiseLoader(connection)
    targets: list[tuple[str, str | None]] = [
        (app, migrations.get(app)) for app, _ in executor.loader.graph.leaf_nodes()
    ]
    try:
        executor.migrate(targets)
    except IrreversibleError as error:
        raise Refused(
            f"This version's tables cannot be migrated back to those of the backup ({error}). Make "
            "a new database, without running migrate, and restore into it."
        ) from error
    known = [(app, name) for app, name in targets if name is not None]
    return StepwiseLoader(connection).project_state(known).apps


def migrate_to_latest() -> None:
    """Migrate the database, which now has rows, to this version."""
    call_command("migrate", interactive=False, verbosity=0)
