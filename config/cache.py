"""A cache in the database that raises an error if it cannot store a value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

from django.core.cache.backends.base import DEFAULT_TIMEOUT
from django.core.cache.backends.db import DatabaseCache
from django.db import DatabaseError, IntegrityError, connections, router, transaction
from django.utils import timezone


class SharedDatabaseCache(DatabaseCache):
    """Django's database cache, except that a failed write raises an error.

    Django reports a failed write as if another process had been faster. The limit on sign-in
    attempts would then mistake a full disk for too many attempts.
    """

    def _base_set(self, mode: str, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT) -> bool:
        """Store a value. Raise DatabaseError if the database cannot."""
        connection = connections[router.db_for_write(self.cache_model_class)]
        errors: list[DatabaseError] = []

        def collect_errors(execute: Callable[..., Any], *args: Any) -> Any:
            try:
                return execute(*args)
            except DatabaseError as error:
                errors.append(error)
                raise

        with connection.execute_wrapper(collect_errors):
            stored: bool = super()._base_set(mode, key, value, timeout)  # type: ignore[misc]
        if stored or mode == "touch" or any(isinstance(one, IntegrityError) for one in errors):
            return stored
        if errors:
            raise errors[-1]
        # The write failed at the end of its transaction: another one fails for the same reason.
        self._write_test_row(connection)
        return stored

    def _write_test_row(self, connection: Any) -> None:
        table = connection.ops.quote_name(self._table)  # type: ignore[attr-defined]
        key = uuid4().hex
        with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
            cursor.execute(
                f"INSERT INTO {table} (cache_key, value, expires) VALUES (%s, %s, %s)",  # noqa: S608
                [key, "", connection.ops.adapt_datetimefield_value(timezone.now())],
            )
            cursor.execute(f"DELETE FROM {table} WHERE cache_key = %s", [key])  # noqa: S608
