"""Rows of several tables from one written query, as what the models make of them.

For the few questions that every key press waits for: writing such a query anew, as the ORM does,
takes longer than answering it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any

from django.db import connection, models


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
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        row = cursor.fetchone()
    if row is None:
        return None
    made, start = [], 0
    for model in of:
        names, moments = _attributes(model)
        values = list(row[start : start + len(names)])
        for place in moments:
            values[place] = moment(values[place])
        made.append(model.from_db(connection.alias, names, values))
        start += len(names)
    return tuple(made)


def moment(value: datetime | str | None) -> datetime | None:
    """A moment as the database gives it: SQLite keeps them in UTC, without saying so."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    return value.replace(tzinfo=UTC) if value is not None and value.tzinfo is None else value


@cache
def _attributes(model: type[models.Model]) -> tuple[list[str], list[int]]:
    """The names of a model's values, and which of them are moments."""
    fields = model._meta.concrete_fields
    moments = [at for at, field in enumerate(fields) if isinstance(field, models.DateTimeField)]
    return [field.attname for field in fields], moments
