"""Rows of several tables from one written query, as what the models make of them.

For the few questions that every key press waits for: writing such a query anew, as the ORM does,
takes longer than answering it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any

from django.db import connection, connections, models


@cache
def columns(model: type[models.Model], alias: str) -> str:
    """The columns of a table under its alias, in the order in which `first` reads them."""
    return ", ".join(f'{alias}."{field.column}"' for field in model._meta.concrete_fields)


def first(
    sql: str, parameters: Mapping[str, Any], *of: type[models.Model]
) -> tuple[Any, ...] | None:
    """Return one instance of each model from the first row of a query that selects the `columns` of
    each, in turn; None where there is no row.
    """
    row = values_of(sql, parameters)
    return None if row is None else _made(row, of, connection.alias)


def every(sql: str, parameters: Sequence[Any], *of: type[models.Model]) -> list[tuple[Any, ...]]:
    """Return the same of every row, with what is selected behind the columns of the models."""
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        # To ask the connection takes as long as to make a row.
        database = connection.alias
        return [_made(row, of, database) for row in cursor.fetchall()]


def _made(row: tuple[Any, ...], of: Sequence[type[models.Model]], database: str) -> tuple[Any, ...]:
    made: list[Any] = []
    start = 0
    for model in of:
        names, moments, booleans, documents = _attributes(model)
        values = list(row[start : start + len(names)])
        for places, convert in ((moments, moment), (booleans, bool), (documents, json.loads)):
            for place in places:
                if values[place] is not None:
                    values[place] = convert(values[place])
        made.append(model.from_db(database, names, values))
        start += len(names)
    return (*made, *row[start:])


def values_of(sql: str, parameters: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Return the first row of a query as the driver gives it, or None.

    PostgreSQL keeps the plan of it for as long as the connection lasts: planning such a query takes
    longer than answering it, too.
    """
    # Whoever logs queries wants to read them, and of a prepared one there is nothing to read.
    prepared = connection.vendor == "postgresql" and not connection.queries_logged
    with _preparing() if prepared else connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        found: tuple[Any, ...] | None = cursor.fetchone()
    return found


def insert(row: models.Model) -> None:
    """Insert a new row, and give it its key, as `save(force_insert=True)` does.

    For rows whose columns have no defaults of the database, and of which nothing is computed when
    they are saved.
    """
    statement, fields = _insertion(type(row))
    # Itself, for each field asks it many things.
    database = connections[connection.alias]
    values = [
        field.get_db_prep_save(getattr(row, field.attname), connection=database) for field in fields
    ]
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        (row.pk,) = cursor.fetchone()
    row._state.adding, row._state.db = False, connection.alias


@cache
def _insertion(model: type[models.Model]) -> tuple[str, list[Any]]:
    """The statement that inserts a row of a model, and the fields that it takes."""
    fields = [field for field in model._meta.concrete_fields if not field.primary_key]
    names = ", ".join(f'"{field.column}"' for field in fields)
    marks = ", ".join(["%s"] * len(fields))
    sql = f'INSERT INTO "{model._meta.db_table}" ({names}) VALUES ({marks}) RETURNING id'  # noqa: S608
    return sql, fields


def _preparing() -> Any:
    """A cursor of Django's whose queries are prepared when they come again."""
    # Nobody on SQLite has to load the driver.
    from django.db.backends.postgresql.base import ServerBindingCursor

    connection.ensure_connection()
    # Django's other cursors write the values into the query, and never prepare it.
    connection.connection.prepare_threshold = 2
    # Django's types do not know what its cursors are made of.
    cursor: Any = ServerBindingCursor
    made = cursor(connection.connection)
    return connection.make_cursor(made)


def moment(value: datetime | str | None) -> datetime | None:
    """Return a time as the database gives it: SQLite stores UTC without an offset."""
    if isinstance(value, str):
        # To read it with its offset is four times as quick as to put the offset in afterwards.
        return datetime.fromisoformat(f"{value}+00:00")
    return value.replace(tzinfo=UTC) if value is not None and value.tzinfo is None else value


@cache
def _attributes(model: type[models.Model]) -> tuple[list[str], list[int], list[int], list[int]]:
    """The names of a model's values, and the places of moments, booleans and JSON among them."""
    fields = model._meta.concrete_fields

    def places(kind: type[models.Field[Any, Any]]) -> list[int]:
        return [place for place, field in enumerate(fields) if isinstance(field, kind)]

    return (
        [field.attname for field in fields],
        places(models.DateTimeField),
        places(models.BooleanField),
        places(models.JSONField),
    )


# Of any row: no database has a larger one.
LARGEST_KEY = 2**63 - 1
