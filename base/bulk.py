"""Bulk writes of many rows; the differences between SQLite and PostgreSQL are handled only here.

Rows are gathered in a stage (`base.stages`). A few statements that are the same on both databases
move its rows into the real tables.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

from django.db import connection
from django.db.models import Aggregate, TextField
from django.db.models.functions import Collate

# The maximum of rows sent at once.
CHUNK = 5_000

Row = Sequence[Any]
Adapter = Callable[[Any], Any]


class _PostgreSQL:
    number_column = "n bigint"
    temporary_schema = "pg_temp"
    byte_order = "C"
    new_uuid = "gen_random_uuid()"
    # Kind of field -> the function that adapts its values for the driver.
    adapters: Mapping[str, Adapter] = {}

    def tune_stage(self, name: str, texts: Sequence[str]) -> None:
        # PostgreSQL would compress long texts here, only to decompress them again.
        whole = ", ".join(f"ALTER COLUMN {column} SET STORAGE EXTERNAL" for column in texts)
        if texts:
            run(f"ALTER TABLE {name} {whole}")

    def insert(self, table: str, columns: str, rows: Sequence[Row]) -> None:
        statement = f"COPY {table} ({columns}) FROM STDIN"
        with (
            connection.cursor() as cursor,
            connection.wrap_database_errors,
            cursor.copy(statement) as copy,
        ):
            for row in rows:
                copy.write_row(row)

    def analyze(self, name: str) -> None:
        # Two concurrent loads, each holding a lock, must not wait for each other here.
        run(f"ANALYZE (SKIP_LOCKED) {name}")

    def listed(self, expression: str, separator: str) -> str:
        return f"string_agg(CAST({expression} AS text), '{separator}')"

    @contextmanager
    def large_work_mem(self) -> Iterator[None]:
        run("SET work_mem = '64MB'")
        try:
            yield
        finally:
            if not connection.needs_rollback and connection.connection is not None:
                run("RESET work_mem")


class _SQLite:
    number_column = "n integer PRIMARY KEY"
    temporary_schema = "temp"
    byte_order = "BINARY"
    new_uuid = "LOWER(HEX(RANDOMBLOB(16)))"

    @property
    def adapters(self) -> Mapping[str, Adapter]:
        return {"DateTimeField": datetime_parameter, "UUIDField": _hex}

    def tune_stage(self, name: str, texts: Sequence[str]) -> None:
        # Some builds of SQLite overwrite dropped tables with zeros, which takes time.
        run("PRAGMA temp.secure_delete = OFF")

    def insert(self, table: str, columns: str, rows: Sequence[Row]) -> None:
        marks = ", ".join(["%s"] * (columns.count(",") + 1))
        statement = f"INSERT INTO {table} ({columns}) VALUES ({marks})"  # noqa: S608 (our names)
        # Outside a transaction, a savepoint begins one that locks nothing until it writes, and
        # writing to a temporary table locks only the file of temporary tables.
        with connection.cursor() as cursor:
            cursor.execute("SAVEPOINT filling")
            try:
                cursor.executemany(statement, rows)
            finally:
                cursor.execute("RELEASE SAVEPOINT filling")

    def analyze(self, name: str) -> None:
        pass

    def listed(self, expression: str, separator: str) -> str:
        return f"group_concat({expression}, '{separator}')"

    @contextmanager
    def large_work_mem(self) -> Iterator[None]:
        yield


_DATABASES: Mapping[str, _PostgreSQL | _SQLite] = {
    "postgresql": _PostgreSQL(),
    "sqlite": _SQLite(),
}


def _database() -> _PostgreSQL | _SQLite:
    return _DATABASES[connection.vendor]


def on_postgresql() -> bool:
    """Return whether the database is PostgreSQL (else it is SQLite)."""
    return isinstance(_database(), _PostgreSQL)


def run(sql: str, params: Mapping[str, Any] | Sequence[Any] | None = None) -> int:
    """Execute a statement; return the number of affected rows."""
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return int(cursor.rowcount)


def create_temporary_table(name: str, columns: Sequence[str]) -> None:
    """Create a temporary table with a number `n` and the declared columns."""
    run(f"CREATE TEMPORARY TABLE {name} ({', '.join([_database().number_column, *columns])})")


def tune_stage(name: str, texts: Sequence[str]) -> None:
    """Make an empty stage with these columns of long text fast to fill and to drop."""
    _database().tune_stage(name, texts)


def adapters() -> Mapping[str, Adapter]:
    """Return functions by kind of field (`DateTimeField`): they adapt values for the driver."""
    return _database().adapters


def insert(table: str, columns: str, rows: Sequence[Row]) -> None:
    """Insert rows of values that the driver accepts, by COPY on PostgreSQL.

    `columns` are names, separated by commas. The rows are complete before: during COPY no other
    query can run.
    """
    _database().insert(table, columns, rows)


def select(sql: str, params: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
    """Execute a query; return its rows."""
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return list(cursor.fetchall())


def number(sql: str, params: Mapping[str, Any] | None = None) -> int:
    """Execute a query for one number; return 0 for no row or null."""
    rows = select(sql, params)
    return int(rows[0][0] or 0) if rows else 0


def drop(name: str) -> None:
    """Drop a temporary table if it exists."""
    run(f"DROP TABLE IF EXISTS {_database().temporary_schema}.{name}")


def index(name: str, columns: str) -> None:
    """Create an index on some columns of a temporary table."""
    run(f"CREATE INDEX {name}_index ON {name} ({columns})")


def analyze(name: str) -> None:
    """Update PostgreSQL's statistics of a table just filled; autovacuum would be too late."""
    _database().analyze(name)


def byte_order() -> str:
    """Return the name of the database's bytewise collation, for SQL."""
    return _database().byte_order


def bytewise(column: str) -> str:
    """Return the column as an ORDER BY term that sorts by bytes, whatever the database's locale."""
    return f'{column} COLLATE "{byte_order()}"'


def in_byte_order(field: Any) -> Collate:
    """Return the same order as an expression of the ORM."""
    return Collate(field, byte_order())


def new_uuid() -> str:
    """Return an SQL expression for a new UUID."""
    return _database().new_uuid


def uuid_parameter(value: uuid.UUID) -> uuid.UUID | str:
    """Convert a UUID to a parameter for a statement."""
    return value if connection.features.has_native_uuid_field else value.hex


def listed(expression: str, separator: str) -> str:
    """Return an SQL expression for the values of a group as one text, in any order."""
    return _database().listed(expression, separator)


def listed_values(expression: Any, separator: str) -> Aggregate:
    """Return the same as an expression of the ORM."""
    template = listed("%(expressions)s", separator)
    return Aggregate(expression, template=template, output_field=TextField())


def datetime_parameter(value: datetime) -> Any:
    """Convert an aware datetime to a parameter for a statement."""
    return connection.ops.adapt_datetimefield_value(value)


def large_work_mem() -> AbstractContextManager[None]:
    """Let PostgreSQL sort and join up to 64 MB in memory inside this context."""
    return _database().large_work_mem()


def _hex(value: uuid.UUID | str) -> str:
    """Return a UUID in the form that SQLite stores."""
    return (value if isinstance(value, uuid.UUID) else uuid.UUID(value)).hex


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
