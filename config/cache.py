"""A cache in the database that says so if the database cannot store a value."""

from __future__ import annotations

import time
from typing import Any
from uuid import uuid4

from django.contrib.sessions.models import Session
from django.core.cache.backends.base import DEFAULT_TIMEOUT
from django.core.cache.backends.db import DatabaseCache
from django.db import OperationalError, transaction
from django.utils import timezone

# allauth counts under a lock with this ending, which it holds for ten seconds at most.
LOCK = ":lock"
# In seconds.
LOCK_WAIT = 20
LOCK_INTERVAL = 0.02


class SharedDatabaseCache(DatabaseCache):
    """Django's database cache for allauth's limits, which never mistake an error for a limit.

    Django reports a failed write as if another process had been faster, and allauth reports too
    many attempts after waiting a second for another process.
    """

    def add(
        self, key: Any, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None
    ) -> bool:
        """Store a value if there is none; wait for a lock. Raise DatabaseError if neither works."""
        end = time.monotonic() + LOCK_WAIT
        while not super().add(key, value, timeout, version):
            if not self.has_key(key, version):
                _write_elsewhere()
            elif not str(key).endswith(LOCK):
                return False
            if time.monotonic() > end:
                raise OperationalError(f"database is locked: {LOCK_WAIT} s were not enough")
            time.sleep(LOCK_INTERVAL)
        return True


def _write_elsewhere() -> None:
    """Write and delete a row. Raises the error because of which the cache could not write."""
    with transaction.atomic():
        Session.objects.create(session_key=uuid4().hex, expire_date=timezone.now()).delete()
