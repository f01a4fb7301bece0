"""Rows and files that one process of a run makes once and all of them copy for their tests.

Making them through models and jobs takes up to several seconds; copying them, a hundredth of one.
"""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import pytest
from django.db import connection, transaction

from tests.services.database import filled_tables
from tests.services.once import make_once

Made = TypeVar("Made")

# On SQLite, triggers write these rows when the rows that they are about are copied.
WRITTEN_BY_TRIGGERS = {"annotate_revision"}


class _Table(NamedTuple):
    name: str
    columns: list[str]
    # SQLite: the raw rows; PostgreSQL: the output of COPY.
    rows: list[tuple[Any, ...]] | bytes


class Copied(Generic[Made]):
    """The rows and files that `make` writes into an empty database, and its return value.

    The first test of a run makes them, and each other one, in whichever process, gets a copy with
    the same keys.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def copy_or_make(
        self,
        make: Callable[[], Made],
        factory: pytest.TempPathFactory,
        folder: Path | None = None,
    ) -> Made:
        """Copy what was made before; the first time, make it. `folder`: the files of this test."""
        if connection.vendor == "sqlite":
            # Every process gives the next rows the same keys.
            with connection.cursor() as cursor:
                cursor.execute("DELETE FROM sqlite_sequence")
        made_now: list[Made] = []

        def keep(kept: Path) -> None:
            made_now.append(make())
            kept.mkdir()
            content = made_now[0], [_read(name) for name in filled_tables()]
            (kept / "rows").write_bytes(pickle.dumps(content))
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
                shutil.copytree(folder, kept / "files")

        kept = make_once(factory, self._name, keep)
        if made_now:
            return made_now[0]
        made, tables = pickle.loads((kept / "rows").read_bytes())  # noqa: S301
        with transaction.atomic():
            _write(tables)
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(kept / "files", folder)
        result: Made = made
        return result


def _read(name: str) -> _Table:
    quoted = connection.ops.quote_name(name)
    with connection.cursor() as cursor:
        columns = [one.name for one in connection.introspection.get_table_description(cursor, name)]
        named = _list_columns(columns)
        if connection.vendor == "postgresql":
            with cursor.copy(f"COPY {quoted} ({named}) TO STDOUT") as rows:
                return _Table(name, columns, b"".join(rows))
        # Not through Django's cursor, so that no value is converted.
        found = connection.connection.execute(f"SELECT {named} FROM {quoted}")  # noqa: S608
        return _Table(name, columns, found.fetchall())


def _write(tables: list[_Table]) -> None:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            # This disables triggers and foreign keys: the rows were valid before.
            cursor.execute("SET LOCAL session_replication_role = replica")
            for table in tables:
                with cursor.copy(
                    f'COPY "{table.name}" ({_list_columns(table.columns)}) FROM STDIN'
                ) as rows:
                    rows.write(table.rows)
                if "id" in table.columns:
                    cursor.execute(
                        "SELECT setval(pg_get_serial_sequence(%s, 'id'), MAX(id))"  # noqa: S608
                        f' FROM "{table.name}"',
                        [table.name],
                    )
            cursor.execute("SET LOCAL session_replication_role = DEFAULT")
        return
    for table in tables:
        if table.name not in WRITTEN_BY_TRIGGERS:
            marks = ", ".join("?" * len(table.columns))
            connection.connection.executemany(
                f'INSERT INTO "{table.name}" ({_list_columns(table.columns)}) '  # noqa: S608
                f"VALUES ({marks})",
                table.rows,
            )


def _list_columns(columns: list[str]) -> str:
    """Return the columns as SQL. A test of migrations may leave them in another order."""
    return ", ".join(map(connection.ops.quote_name, columns))
