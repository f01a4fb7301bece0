"""Let initial migrations create each table with all its columns, indexes and constraints.

    .venv/bin/python bin/fold_migrations.py      after makemigrations has made one anew

makemigrations adds each constraint by itself; Django then makes every related model again, and
SQLite copies the table, for each of 150 constraints: half of the time that a new database takes.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import django
from django.apps import apps
from django.conf import settings
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations import AddField, CreateModel
from django.db.migrations.operations.base import Operation
from django.db.migrations.optimizer import MigrationOptimizer
from django.db.migrations.writer import MigrationWriter

NAME = "0001_initial"


def fold(operations: list[Operation], app_label: str) -> list[Operation]:
    """Return operations that create each table at once, after those that it refers to."""
    of_models: dict[str, list[Operation]] = {}
    for operation in operations:
        of_models.setdefault(_model_of(operation), []).append(operation)
    ordered: list[Operation] = []
    while of_models:
        model = next(model for model in of_models if not _refers(model, of_models, app_label))
        ordered += of_models.pop(model)
    return MigrationOptimizer().optimize(ordered, app_label)


def _model_of(operation: Operation) -> str:
    attribute = "name_lower" if isinstance(operation, CreateModel) else "model_name_lower"
    return str(getattr(operation, attribute))


def _refers(model: str, of_models: dict[str, list[Operation]], app_label: str) -> bool:
    """Whether a model refers to another one of those that are left."""
    return any(
        operation.references_model(other, app_label)
        for operation in of_models[model]
        if isinstance(operation, CreateModel | AddField)
        for other in of_models
        if other != model
    )


def main() -> None:
    """Write the initial migration of each app of Rejudge again."""
    django.setup()
    loader = MigrationLoader(None)
    for app in apps.get_app_configs():
        migration = loader.disk_migrations.get((app.label, NAME))
        if migration is not None and Path(app.path).parent == settings.BASE_DIR:
            operations = fold(list(migration.operations), app.label)
            migration.operations = operations  # type: ignore[misc]  # Django assigns it too
            writer = MigrationWriter(migration)
            Path(writer.path).write_text(writer.as_string(), encoding="utf-8")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    main()
