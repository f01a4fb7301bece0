"""The statement that every key press executes, and values as a driver returns them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

from django.db import connection


def first_named_values(sql: str, parameters: Mapping[str, Any]) -> SimpleNamespace | None:
    """Return the first row of a query by the names of its columns, or None if it has no rows."""
    with _repeating_cursor() as cursor:
        cursor.execute(sql, parameters)
        row = cursor.fetchone()
        names = [column[0] for column in cursor.description]
    return None if row is None else SimpleNamespace(**dict(zip(names, row, strict=True)))


def _repeating_cursor() -> Any:
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


# No database has a larger primary key.
LARGEST_KEY = 2**63 - 1
