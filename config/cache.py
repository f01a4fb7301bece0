"""A cache in the database that raises an error if it cannot store a value."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from django.core.cache.backends.base import DEFAULT_TIMEOUT
from django.core.cache.backends.db import DatabaseCache
from django.db import (
    DatabaseError,
    IntegrityError,
    OperationalError,
    connections,
    router,
    transaction,
)
from django.utils import timezone

# allauth counts under a lock with this ending, which it holds for ten seconds at most.
LOCK = ":lock"
# In seconds.
LOCK_WAIT = 20
LOCK_INTERVAL = 0.02


class SharedDatabaseCache(DatabaseCache):
    """Django's database cache, except that a failed write raises an error.

    Django reports a failed write as if another process had been faster. The limit on sign-in
    attempts would then mistake a full disk for too many attempts.
    """

    def add(
        self, key: Any, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None
    ) -> bool:
        """Store a value if there is none; wait for a lock, or raise OperationalError.

        allauth waits for a lock for one second, and then reports too many attempts.
        """
        if not str(key).endswith(LOCK):
            return super().add(key, value, timeout, version)
        end = time.monotonic() + LOCK_WAIT
        # `has_key` only reads: waiting must not keep others from writing.
        while self.has_key(key, version) or not super().add(key, value, timeout, version):
            if time.monotonic() > end:
                raise OperationalError(f"database is locked: {LOCK_WAIT} s were not enough")
            time.sleep(LOCK_INTERVAL)
        return True

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
