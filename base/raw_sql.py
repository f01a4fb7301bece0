"""Model instances from hand-written SQL that selects from several tables.

For the few queries that run at every key press: the ORM takes longer to compile such a query than
the database takes to answer it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any

from django.db import connection, connections, models
from django.db.models.base import ModelState


@cache
def columns(model: type[models.Model], alias: str) -> str:
    """Return the columns of a table under its alias, in the order that `first_row` expects."""
    return ", ".join(f'{alias}."{field.column}"' for field in model._meta.concrete_fields)


def first_row(
    sql: str, parameters: Mapping[str, Any], *of: type[models.Model]
) -> tuple[Any, ...] | None:
    """Return an instance of each model from the first row of a query, or None if it has no rows.

    The query selects the `columns` of each model, in turn.
    """
    row = first_values(sql, parameters)
    return None if row is None else _instances(row, of, connection.alias)


def all_rows(sql: str, parameters: Sequence[Any], *of: type[models.Model]) -> list[tuple[Any, ...]]:
    """Like `first_row`, for every row, with any further selected values after the instances."""
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        # Read once: looking up the alias takes as long as creating an instance.
        database = connection.alias
        return [_instances(row, of, database) for row in cursor.fetchall()]


def _instances(
    row: tuple[Any, ...], of: Sequence[type[models.Model]], database: str
) -> tuple[Any, ...]:
    made: list[Any] = []
    start = 0
    for model in of:
        names, moments, booleans, documents = _attributes(model)
        values = list(row[start : start + len(names)])
        for places, convert in (
            (moments, aware_datetime),
            (booleans, bool),
            (documents, json.loads),
        ):
            for place in places:
                if values[place] is not None:
                    values[place] = convert(values[place])
        made.append(_instance(model, database, names, values))
        start += len(names)
    return (*made, *row[start:])


def _instance(
    model: type[models.Model], database: str, names: Sequence[str], values: Sequence[Any]
) -> models.Model:
    """Return the instance that `model.from_db` makes, in a quarter of its time.

    All columns are given, so nothing is deferred. Nothing in Rejudge overrides a model's `__init__`
    or waits for Django's signals around it, which this leaves out.
    """
    made = model.__new__(model)
    made._state = state = ModelState()
    state.adding, state.db = False, database
    vars(made).update(zip(names, values, strict=True))
    return made


def first_values(sql: str, parameters: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Return the first row of a query as the driver returns it, or None."""
    with repeating_cursor() as cursor:
        cursor.execute(sql, parameters)
        found: tuple[Any, ...] | None = cursor.fetchone()
    return found


def insert(row: models.Model) -> None:
    """Insert a new row and set its key, as `save(force_insert=True)` does.

    For models without database defaults and without values computed on saving.
    """
    statement, fields = _insertion(type(row))
    # The connection itself, not Django's proxy: each field reads many of its attributes.
    database = connections[connection.alias]
    values = [
        field.get_db_prep_save(getattr(row, field.attname), connection=database) for field in fields
    ]
    with repeating_cursor() as cursor:
        cursor.execute(statement, values)
        (row.pk,) = cursor.fetchone()
    row._state.adding, row._state.db = False, connection.alias


@cache
def _insertion(model: type[models.Model]) -> tuple[str, list[Any]]:
    """Return the statement that inserts a row of a model, and the fields it needs."""
    fields = [field for field in model._meta.concrete_fields if not field.primary_key]
    names = ", ".join(f'"{field.column}"' for field in fields)
    marks = ", ".join(["%s"] * len(fields))
    sql = f'INSERT INTO "{model._meta.db_table}" ({names}) VALUES ({marks}) RETURNING id'  # noqa: S608
    return sql, fields


def repeating_cursor() -> Any:
    """Return a cursor for statements that every key press executes.

    On PostgreSQL they are prepared, so that the connection keeps their plans: planning such a
    statement takes longer than executing it.
    """
    # The query log cannot show prepared statements, so they are not prepared while it is on.
    if connection.vendor != "postgresql" or connection.queries_logged:
        return connection.cursor()
    # Imported here so that SQLite installations need no PostgreSQL driver.
    from django.db.backends.postgresql.base import ServerBindingCursor

    connection.ensure_connection()
    # Django's other cursors interpolate the values into the query and never prepare it.
    connection.connection.prepare_threshold = 2
    # Django's type stubs do not describe how this cursor is created.
    cursor: Any = ServerBindingCursor
    made = cursor(connection.connection)
    return connection.make_cursor(made)


def aware_datetime(value: datetime | str | None) -> datetime | None:
    """Return a database value as an aware datetime; SQLite stores UTC without an offset."""
    if isinstance(value, str):
        # Parsing it with its offset is four times faster than adding the offset afterwards.
        return datetime.fromisoformat(f"{value}+00:00")
    return value.replace(tzinfo=UTC) if value is not None and value.tzinfo is None else value


@cache
def _attributes(model: type[models.Model]) -> tuple[list[str], list[int], list[int], list[int]]:
    """Return a model's attribute names, and the indices of datetimes, booleans and JSON in them."""
    fields = model._meta.concrete_fields

    def places(kind: type[models.Field[Any, Any]]) -> list[int]:
        return [place for place, field in enumerate(fields) if isinstance(field, kind)]

    return (
        [field.attname for field in fields],
        places(models.DateTimeField),
        places(models.BooleanField),
        places(models.JSONField),
    )


# No database has a larger primary key.
LARGEST_KEY = 2**63 - 1
