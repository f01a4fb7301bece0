"""Tables whose rows are written once: triggers of the database refuse to change or delete them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction

from annotate.projects.models import Deed, Link

FROZEN = (Deed, Link)


@contextmanager
def thawed() -> Iterator[None]:
    """One transaction in which rows of these tables may be deleted: only to take a whole project
    away, or everything. What raises leaves everything as it was.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET LOCAL rejudge.thawed = 'on'")
            yield
            cursor.execute("SET LOCAL rejudge.thawed = 'off'")
            return
        # Nobody else writes meanwhile, and nobody else ever sees the tables without them.
        cursor.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name IN (%s, %s) "
            "AND name LIKE '%%_no_delete'",
            [model._meta.db_table for model in FROZEN],
        )
        triggers = cursor.fetchall()
        for name, _sql in triggers:
            cursor.execute(f"DROP TRIGGER {connection.ops.quote_name(name)}")
        yield
        for _name, sql in triggers:
            cursor.execute(sql)
