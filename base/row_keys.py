"""Reserve a range of primary keys for a bulk insert."""

from __future__ import annotations

from typing import Any

from django.db import connection, models, transaction

from base import bulk


def has_numbered_keys(model: type[models.Model]) -> bool:
    """Return whether the database numbers the rows of a table."""
    return isinstance(model._meta.pk, models.AutoField)


def reserve_keys(model: type[models.Model], first: int, last: int) -> int:
    """Reserve the keys from `first` to `last`, shifted past all keys already given out.

    Returns the shift, 0 if the keys were free. Runs in its own short transaction.
    """
    take = _on_postgresql if bulk.on_postgresql() else _on_sqlite
    with transaction.atomic():
        return take(model, first, last)


def _on_sqlite(model: type[models.Model], first: int, last: int) -> int:
    # Inside a writing transaction no other connection can number rows.
    name = {"name": model._meta.db_table}
    last_given = bulk.select("SELECT seq FROM sqlite_sequence WHERE name = %(name)s", name)
    shift = max(0, last_given[0][0] - first + 1) if last_given else 0
    taken = {**name, "seq": max(last_given[0][0] if last_given else 0, last + shift)}
    if last_given:
        bulk.run("UPDATE sqlite_sequence SET seq = %(seq)s WHERE name = %(name)s", taken)
    else:
        bulk.run("INSERT INTO sqlite_sequence (name, seq) VALUES (%(name)s, %(seq)s)", taken)
    return shift


def _on_postgresql(model: type[models.Model], first: int, last: int) -> int:
    table = connection.ops.quote_name(model._meta.db_table)
    column: Any = model._meta.pk
    names = {"table": table, "column": column.column}
    with connection.cursor() as cursor:
        # Every insert locks the table before it takes a number, so no other can take one now.
        cursor.execute(f"LOCK TABLE {table} IN SHARE ROW EXCLUSIVE MODE")
        cursor.execute("SELECT pg_get_serial_sequence(%(table)s, %(column)s)", names)
        [sequence] = cursor.fetchone()
        cursor.execute(f"SELECT last_value, is_called FROM {sequence}")  # noqa: S608 (the server's)
        value, called = cursor.fetchone()
        last_given = value if called else value - 1
        shift = max(0, last_given - first + 1)
        cursor.execute("SELECT setval(%s::regclass, %s)", [sequence, max(last_given, last + shift)])
    return int(shift)
