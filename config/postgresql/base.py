"""The database wrapper that Django looks for in a backend."""

from __future__ import annotations

import time

from django.db.backends.postgresql import base

# A connection that was fine so recently, in seconds, is not checked again before it is used.
RECENT = 5.0


class DatabaseWrapper(base.DatabaseWrapper):
    """Checks a persistent connection before a request only if it was idle for a while.

    A check is a query of its own, as dear as any other of a key press. If the server was restarted
    within that time, one request on the connection fails, and the next one gets a new connection.
    """

    _fine_at = -RECENT

    def close_if_unusable_or_obsolete(self) -> None:
        """Prepare for the next request; Django calls it before and after each."""
        fine = self.connection is not None and not self.errors_occurred
        super().close_if_unusable_or_obsolete()
        now = time.monotonic()
        if fine and now - self._fine_at < RECENT:
            self.health_check_done = True
        if fine:
            self._fine_at = now
