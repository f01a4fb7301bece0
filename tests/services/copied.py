"""Rows and files that a process makes once and copies for each further test.

Making them through models and jobs takes up to a second; copying them, a hundredth of one.
"""

from __future__ import annotations

import copy
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from django.db import connection, transaction

from tests.services.database import filled_tables

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

    The first test makes them, and each other one gets a copy with the same keys.
    """

    def __init__(self) -> None:
        self._made: Made | None = None
        self._tables: list[_Table] = []
        self._files: Path | None = None

    def copy_or_make(
        self,
        make: Callable[[], Made],
        folder: Path | None = None,
        keep_in: Callable[[], Path] | None = None,
    ) -> Made:
        """Copy what was made before; the first time, make it.

        `folder`: the files of this test; `keep_in` returns a folder for copies of them that stays
        until the end of the run.
        """
        if self._made is None:
            made = make()
            self._tables = [_read(name) for name in filled_tables()]
            if folder is not None and keep_in is not None:
                self._files = keep_in() / "files"
                folder.mkdir(parents=True, exist_ok=True)
                shutil.copytree(folder, self._files)
            self._made = copy.deepcopy(made)
            return made
        with transaction.atomic():
            _write(self._tables)
        if folder is not None and self._files is not None:
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(self._files, folder)
        return copy.deepcopy(self._made)


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
