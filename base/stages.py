"""Stages: temporary tables of this connection, each declared as a model without a managed table.

Filling a stage locks nothing that other connections use. When the stage is complete, its rows are
compared with those of the real tables and moved into them.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

from django.db import connection, models
from django.db.models.fields import NOT_PROVIDED

from base import bulk

# The maximum of characters of text sent at once.
WEIGHT = 4_000_000


class StagedRow(models.Model):
    """A row of a stage; `n` numbers the rows from 1.

    A field with a `db_default` (0, 1 or None) is not filled, but set by later statements.
    """

    n = models.BigIntegerField(primary_key=True)

    objects: ClassVar[models.Manager[Self]] = models.Manager()

    class Meta:
        abstract = True
        managed = False
        # The name of no installed app, so that stages are in no migration, backup or fixture.
        app_label = "stages"

    def __str__(self) -> str:
        return f"row {self.pk} of {self._meta.db_table}"


def key_of(model: type[models.Model], column: str) -> Any:
    """Return the field of a key that is looked up when the stage is complete."""
    return models.ForeignKey(
        model, models.DO_NOTHING, db_column=column, null=True, db_default=None, related_name="+"
    )


class Stage:
    """The temporary table of a model, filled row by row."""

    def __init__(self, model: type[StagedRow]) -> None:
        self.model = model
        self.name = model._meta.db_table
        self.count = 0
        self._rows: list[bulk.Row] = []
        self._weight = 0
        fields: list[Any] = list(model._meta.local_fields)
        filled = [field for field in fields if field.db_default is NOT_PROVIDED]
        self._filled = ", ".join(field.column for field in filled)
        adapters = bulk.adapters()
        self._adapt = [
            (place, adapters[field.get_internal_type()])
            for place, field in enumerate(filled)
            if field.get_internal_type() in adapters
        ]
        bulk.drop(self.name)
        bulk.create_temporary_table(self.name, [_declared(field) for field in fields[1:]])
        texts = [field.column for field in fields if field.get_internal_type() == "TextField"]
        bulk.tune_stage(self.name, texts)

    def add(self, *values: Any, weight: int = 0) -> None:
        """Add one row; `weight` is the number of characters of long text in it."""
        self.count += 1
        self._rows.append((self.count, *values))
        self._weight += weight
        if len(self._rows) >= bulk.CHUNK or self._weight >= WEIGHT:
            self.flush()

    def flush(self) -> None:
        """Send the gathered rows to the database."""
        if not self._rows:
            return
        rows = [self._adapted(row) for row in self._rows] if self._adapt else self._rows
        bulk.insert(self.name, self._filled, rows)
        self._rows = []
        self._weight = 0

    def _adapted(self, row: bulk.Row) -> bulk.Row:
        """Return a row with values that this database's driver accepts."""
        adapted = list(row)
        for place, adapt in self._adapt:
            if adapted[place] is not None:
                adapted[place] = adapt(adapted[place])
        return adapted

    def settle(self) -> None:
        """Send the remaining rows; afterwards statements may read the stage."""
        self.flush()
        bulk.analyze(self.name)

    def drop(self) -> None:
        """Drop the stage and its rows."""
        bulk.drop(self.name)


def _declared(field: Any) -> str:
    """Return the column of a field, with its default."""
    declared = f"{field.column} {field.db_type(connection)}"
    if field.db_default is NOT_PROVIDED:
        return declared
    return f"{declared} DEFAULT {'NULL' if field.db_default is None else field.db_default}"
