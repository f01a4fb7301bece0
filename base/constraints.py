"""Constraints that many models have, and tables to which rows are only appended."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction
from django.db.models import CheckConstraint, Model, Q

from base.providers import NotRegistered


def at_and_by(name: str, fact: str) -> CheckConstraint:
    """Return the constraint that `{fact}_at` and `{fact}_by` are both set, or neither is."""
    at, by = f"{fact}_at__isnull", f"{fact}_by__isnull"
    return CheckConstraint(
        name=name, condition=Q(**{at: True, by: True}) | Q(**{at: False, by: False})
    )


_tables: list[str] = []


def make_append_only(*models: type[Model]) -> None:
    """Register append-only models; called when an app starts."""
    _tables.extend(model._meta.db_table for model in models if model._meta.db_table not in _tables)


@contextmanager
def deletions_allowed() -> Iterator[None]:
    """Open a transaction in which rows of these tables may be deleted.

    Only for deleting a whole project, or all data. An exception rolls everything back.
    """
    if not _tables:
        raise NotRegistered("No app has registered append-only tables.")
    with transaction.atomic(), connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET LOCAL rejudge.thawed = 'on'")
            yield
            cursor.execute("SET LOCAL rejudge.thawed = 'off'")
            return
        # SQLite has one writer at a time, and no other connection sees the tables without triggers.
        cursor.execute(
            "SELECT name, sql, tbl_name FROM sqlite_master WHERE type = 'trigger' "
            "AND name LIKE '%%_no_delete'",
            [],
        )
        triggers = [(name, sql) for name, sql, table in cursor.fetchall() if table in _tables]
        for name, _sql in triggers:
            cursor.execute(f"DROP TRIGGER {connection.ops.quote_name(name)}")
        yield
        for _name, sql in triggers:
            cursor.execute(sql)
