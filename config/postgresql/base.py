"""The database wrapper that Django looks for in a backend."""

from __future__ import annotations

import time

from django.db.backends.postgresql import base

# In seconds: a persistent connection that worked so recently is not checked before a request.
RECENT = 5.0


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's connection to PostgreSQL with fewer health checks and cached plans.

    A health check is a query of its own, and a key press needs only seven others. If the server was
    restarted within the last seconds, one request on the connection fails and the next one
    reconnects.
    """

    _worked_at = float("-inf")

    def init_connection_state(self) -> None:
        """Keep one plan of each prepared statement (`base.raw_sql.repeating_cursor`).

        Otherwise PostgreSQL plans some of them again each time, which takes longer than executing
        them. Set here because some poolers reject options at connection time.
        """
        super().init_connection_state()
        with self.cursor() as cursor:
            cursor.execute("SET plan_cache_mode = force_generic_plan")

    def close_if_unusable_or_obsolete(self) -> None:
        """Prepare for the next request; Django calls this before and after each one."""
        works = self.connection is not None and not self.errors_occurred
        super().close_if_unusable_or_obsolete()
        if works:
            now = time.monotonic()
            if now - self._worked_at < RECENT:
                self.health_check_done = True
            self._worked_at = now
