"""Bulk writes of many rows; the differences between SQLite and PostgreSQL are handled only here.

Rows are gathered in a stage, a temporary table of this connection. Filling a stage locks nothing
that other connections use. When the stage is complete, a few statements that are the same on both
databases move its rows into the real tables.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import Aggregate, TextField
from django.db.models.functions import Collate

# The maximum of rows sent at once, and of the characters of text in them.
CHUNK = 5_000
WEIGHT = 4_000_000

# Kind of column -> its type on PostgreSQL and on SQLite.
_TYPES = {
    "text": ("text", "text"),
    "integer": ("bigint", "integer"),
    "real": ("double precision", "real"),
    "moment": ("timestamp with time zone", "text"),
    "uuid": ("uuid", "text"),
    "json": ("jsonb", "text"),
}

Row = Sequence[Any]


def on_postgresql() -> bool:
    """Return whether the database is PostgreSQL (else it is SQLite)."""
    return connection.vendor == "postgresql"


class Stage:
    """A temporary table that is filled row by row; column `n` numbers the rows from 1.

    `columns` maps names to kinds: text, integer, real, moment (aware datetimes), uuid, json (as
    text). A kind with a default ("integer 0") is not filled; these columns come last.
    """

    def __init__(self, name: str, columns: Mapping[str, str]) -> None:
        self.name = name
        self.count = 0
        self._rows: list[Row] = []
        self._weight = 0
        filled = ["n", *(column for column, kind in columns.items() if " " not in kind)]
        self._adapt = [
            (place, adapt)
            for place, column in enumerate(filled)
            if column != "n" and (adapt := _adapter(columns[column])) is not None
        ]
        key = "n bigint" if on_postgresql() else "n integer PRIMARY KEY"
        declared = ", ".join([key, *(f"{c} {_declared(kind)}" for c, kind in columns.items())])
        drop(name)
        run(f"CREATE TEMPORARY TABLE {name} ({declared})")
        if not on_postgresql():
            # Some builds of SQLite overwrite dropped tables with zeros, which takes time.
            run("PRAGMA temp.secure_delete = OFF")
        if on_postgresql():
            # PostgreSQL would compress long texts here, only to decompress them again.
            texts = [column for column, kind in columns.items() if kind.startswith("text")]
            whole = ", ".join(f"ALTER COLUMN {column} SET STORAGE EXTERNAL" for column in texts)
            if texts:
                run(f"ALTER TABLE {name} {whole}")
        names = ", ".join(filled)
        self._copy = f"COPY {name} ({names}) FROM STDIN"
        marks = ", ".join(["%s"] * len(filled))
        self._insert = f"INSERT INTO {name} ({names}) VALUES ({marks})"  # noqa: S608 (our names)

    def add(self, *values: Any, weight: int = 0) -> None:
        """Add one row; `weight` is the number of characters of long text in it."""
        self.count += 1
        self._rows.append((self.count, *values))
        self._weight += weight
        if len(self._rows) >= CHUNK or self._weight >= WEIGHT:
            self.flush()

    def flush(self) -> None:
        """Send the gathered rows to the database."""
        if not self._rows:
            return
        rows = [self._adapted(row) for row in self._rows] if self._adapt else self._rows
        if on_postgresql():
            with connection.cursor() as cursor, cursor.copy(self._copy) as copy:
                for row in rows:
                    copy.write_row(row)
        else:
            # Outside a transaction, a savepoint begins one that locks nothing until it writes, and
            # writing to a temporary table locks only the file of temporary tables.
            with connection.cursor() as cursor:
                cursor.execute("SAVEPOINT filling")
                try:
                    cursor.executemany(self._insert, rows)
                finally:
                    cursor.execute("RELEASE SAVEPOINT filling")
        self._rows = []
        self._weight = 0

    def _adapted(self, row: Row) -> Row:
        """Return a row with values that this database's driver accepts."""
        adapted = list(row)
        for place, adapt in self._adapt:
            if adapted[place] is not None:
                adapted[place] = adapt(adapted[place])
        return adapted

    def settle(self) -> None:
        """Send the remaining rows; afterwards statements may read the stage."""
        self.flush()
        analyze(self.name)

    def drop(self) -> None:
        """Drop the stage and its rows."""
        drop(self.name)


def run(sql: str, params: Mapping[str, Any] | None = None) -> int:
    """Execute a statement; return the number of affected rows."""
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return int(cursor.rowcount)


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
    run(f"DROP TABLE IF EXISTS {'pg_temp' if on_postgresql() else 'temp'}.{name}")


def index(name: str, columns: str) -> None:
    """Create an index on some columns of a temporary table."""
    run(f"CREATE INDEX {name}_index ON {name} ({columns})")


def analyze(name: str) -> None:
    """Update PostgreSQL's statistics of a table just filled; autovacuum would be too late."""
    if on_postgresql():
        # Two concurrent loads, each holding a lock, must not wait for each other here.
        run(f"ANALYZE (SKIP_LOCKED) {name}")


def byte_order() -> str:
    """Return the name of the database's bytewise collation, for SQL."""
    return "C" if on_postgresql() else "BINARY"


def bytewise(column: str) -> str:
    """Return the column as an ORDER BY term that sorts by bytes, whatever the database's locale."""
    return f'{column} COLLATE "{byte_order()}"'


def in_byte_order(field: Any) -> Collate:
    """Return the same order as an expression of the ORM."""
    return Collate(field, byte_order())


def new_uuid() -> str:
    """Return an SQL expression for a new UUID."""
    return "gen_random_uuid()" if on_postgresql() else "LOWER(HEX(RANDOMBLOB(16)))"


def uuid_parameter(value: uuid.UUID) -> uuid.UUID | str:
    """Convert a UUID to a parameter for a statement."""
    return value if connection.features.has_native_uuid_field else value.hex


def listed(expression: str, separator: str) -> str:
    """Return an SQL expression for the values of a group as one text, in any order."""
    if on_postgresql():
        return f"string_agg(CAST({expression} AS text), '{separator}')"
    return f"group_concat({expression}, '{separator}')"


def listed_values(expression: Any, separator: str) -> Aggregate:
    """Return the same as an expression of the ORM."""
    template = listed("%(expressions)s", separator)
    return Aggregate(expression, template=template, output_field=TextField())


def datetime_parameter(value: datetime) -> Any:
    """Convert an aware datetime to a parameter for a statement."""
    return connection.ops.adapt_datetimefield_value(value)


@contextmanager
def large_work_mem() -> Iterator[None]:
    """Let PostgreSQL sort and join up to 64 MB in memory inside this context."""
    if not on_postgresql():
        yield
        return
    run("SET work_mem = '64MB'")
    try:
        yield
    finally:
        if not connection.needs_rollback and connection.connection is not None:
            run("RESET work_mem")


def _declared(kind: str) -> str:
    """Return a column's SQL type, with its default ("integer 0")."""
    kind, _, default = kind.partition(" ")
    declared = _TYPES[kind][0 if on_postgresql() else 1]
    return f"{declared} DEFAULT {default}" if default else declared


def _adapter(kind: str) -> Callable[[Any], Any] | None:
    """Return the function that adapts values of a kind for the driver, or None if not needed."""
    if on_postgresql():
        return None
    adapters: dict[str, Callable[[Any], Any]] = {"moment": datetime_parameter, "uuid": _hex}
    return adapters.get(kind)


def _hex(value: uuid.UUID | str) -> str:
    """Return a UUID in the form that SQLite stores."""
    return (value if isinstance(value, uuid.UUID) else uuid.UUID(value)).hex
