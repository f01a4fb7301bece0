"""Model instances from hand-written SQL that selects from several tables.

For the few queries that run at every key press: the ORM takes longer to compile such a query than
the database takes to answer it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from types import SimpleNamespace
from typing import Any

from django.db import connection, models


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
    with repeating_cursor() as cursor:
        cursor.execute(sql, parameters)
        row = cursor.fetchone()
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
        made.append(model.from_db(database, names, values))
        start += len(names)
    return (*made, *row[start:])


def first_named_values(sql: str, parameters: Mapping[str, Any]) -> SimpleNamespace | None:
    """Return the first row of a query by the names of its columns, or None if it has no rows."""
    with repeating_cursor() as cursor:
        cursor.execute(sql, parameters)
        row = cursor.fetchone()
        names = [column[0] for column in cursor.description]
    return None if row is None else SimpleNamespace(**dict(zip(names, row, strict=True)))


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
