"""Rows that tests copy go to the columns of their names, whatever the order of the columns."""

from __future__ import annotations

import pytest
from django.db import connection

from tests.services.copied import _read, _write

pytestmark = pytest.mark.both_databases


def test_rows_are_copied_into_a_table_with_another_column_order(db):
    with connection.cursor() as cursor:
        cursor.execute('CREATE TABLE copied (grade integer NOT NULL, "order" integer)')
        cursor.execute("INSERT INTO copied VALUES (2, NULL)")
        rows = _read("copied")
        cursor.execute("DROP TABLE copied")
        cursor.execute('CREATE TABLE copied ("order" integer, grade integer NOT NULL)')

        _write([rows])

        cursor.execute('SELECT grade, "order" FROM copied')
        assert cursor.fetchall() == [(2, None)]
