"""The database wrapper that Django looks for in a backend."""

from __future__ import annotations

import time

from django.db.backends.postgresql import base

# In seconds: how often a busy connection is checked and its statements are planned anew.
CHECK_EVERY = 5.0


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's connection to PostgreSQL with fewer health checks and cached plans.

    A health check is a query of its own, and a key press needs only seven others. If the server was
    restarted since the last check, one request on the connection fails and the next one reconnects.
    """

    _checked_at = float("-inf")

    def init_connection_state(self) -> None:
        """Keep one plan of each prepared statement (`base.raw_sql.repeating_cursor`), without JIT.

        Otherwise PostgreSQL plans some of them again each time, and compiles those whose estimated
        cost is high; both take longer than executing them. Set here because some poolers reject
        options at connection time.
        """
        super().init_connection_state()
        with self.cursor() as cursor:
            cursor.execute("SET plan_cache_mode = force_generic_plan; SET jit = off")
        self._checked_at = time.monotonic()

    def close_if_unusable_or_obsolete(self) -> None:
        """Prepare for the next request; Django calls this before and after each one."""
        super().close_if_unusable_or_obsolete()
        if time.monotonic() - self._checked_at < CHECK_EVERY:
            self.health_check_done = True

    def is_usable(self) -> bool:
        """Return whether the server answers, and drop the plans of prepared statements.

        A plan made while a table had a few rows reads the whole table. It would be kept until
        PostgreSQL next collects statistics, about a minute later.
        """
        if self.connection is None:
            return False
        self._checked_at = time.monotonic()
        try:
            with self.connection.cursor() as cursor:
                cursor.execute("DISCARD PLANS")
        except self.Database.Error:
            return False
        return True
